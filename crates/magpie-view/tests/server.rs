//! What the server answers, and what it refuses.

mod common;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use axum::response::Response;
use common::Made;
use magpie_envs::Task;
use magpie_learn::Actions;
use magpie_run::EnvOverrides;
use magpie_run::operations::ReplayOptions;
use magpie_view::Run;
use magpie_view::server::{Access, App};
use serde_json::{Value, json};
use tower::ServiceExt;

const HOST: &str = "127.0.0.1:8420";

fn app(folders: &[&Path]) -> Arc<App> {
    let runs = folders.iter().map(|folder| Run::open(folder).unwrap()).collect();
    App::new(runs, Access::of("127.0.0.1", HOST.parse().unwrap()).unwrap())
}

async fn send(app: &Arc<App>, request: Request<Body>) -> Response {
    app.router().oneshot(request).await.unwrap()
}

fn asking(path: &str) -> axum::http::request::Builder {
    Request::builder().uri(path).header(header::HOST, HOST)
}

async fn get(app: &Arc<App>, path: &str) -> (StatusCode, Vec<u8>) {
    let answer = send(app, asking(path).body(Body::empty()).unwrap()).await;
    let status = answer.status();
    (status, to_bytes(answer.into_body(), 64 << 20).await.unwrap().to_vec())
}

async fn value(app: &Arc<App>, path: &str) -> Value {
    let (status, bytes) = get(app, path).await;
    assert_eq!(status, 200, "{path}: {}", String::from_utf8_lossy(&bytes));
    serde_json::from_slice(&bytes).unwrap()
}

async fn problem(app: &Arc<App>, path: &str) -> (StatusCode, String) {
    let (status, bytes) = get(app, path).await;
    (status, String::from_utf8(bytes).unwrap())
}

#[tokio::test]
async fn an_archive_is_outlined_without_its_policies() {
    let folder = tempfile::tempdir().unwrap();
    // As large as the paper's, with networks of its size.
    Made { units: 128, ..Made::of("humanoid", &[50, 50]) }.write(folder.path());
    let app = app(&[folder.path()]);
    let begun = std::time::Instant::now();
    let (_, bytes) = get(&app, "/api/run/0/outline").await;
    let seconds = begun.elapsed().as_secs_f64();
    let outline: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(outline["grid"], json!([50, 50]));
    assert_eq!(outline["elites"]["cell"].as_array().unwrap().len(), 1875);
    let robot = Task::named("humanoid").unwrap().robot().unwrap();
    let capsules: usize = robot.bodies.iter().map(|body| body.colliders.len()).sum();
    assert_eq!(outline["robot"]["capsules"].as_array().unwrap().len(), capsules);
    assert_eq!((&outline["planned"], &outline["finished"]), (&json!(50), &json!(false)));
    let whole = fs::metadata(folder.path().join("archive.safetensors")).unwrap().len();
    assert!(whole > 300_000_000 && bytes.len() < 300_000, "{} of {whole} bytes", bytes.len());
    // On a busy machine; a few milliseconds on a quiet one.
    assert!(seconds < 1.0, "{seconds} s");
    let metrics = value(&app, "/api/run/0/metrics").await;
    assert_eq!(metrics["columns"][1], "qd_score");
    assert!(metrics["settings"].as_array().unwrap().contains(&json!(["task", "humanoid"])));
}

#[tokio::test]
async fn a_gait_is_the_replayed_episode_and_changes_with_the_world() {
    let folder = tempfile::tempdir().unwrap();
    Made::of("walker2d", &[5, 5]).write(folder.path());
    let app = app(&[folder.path()]);
    let (status, bytes) = get(&app, "/api/run/0/gait?cell=6&seed=3&episode=1").await;
    assert_eq!(status, 200);
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let head: Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
    let chosen = Run::open(folder.path()).unwrap().choose(Some(6)).unwrap();
    let options = ReplayOptions {
        world: EnvOverrides::default(),
        gravity: 1.0,
        actions: Actions::Mean,
        seed: 3,
        episode: 1,
        steps: None,
        push: None,
    };
    let trajectory = chosen.play(&options).unwrap();
    assert_eq!(head["steps"], trajectory.steps());
    assert_eq!(head["total"], trajectory.recording.true_return());
    assert_eq!(head["name"], "1,1");
    let frames = trajectory.steps() + 1;
    for frame in [0, 1, frames / 2, frames - 1] {
        for body in 0..trajectory.bodies() {
            let at = 4 + length + (frame * trajectory.bodies() + body) * 12;
            let found: [f32; 3] =
                std::array::from_fn(|i| f32::from_le_bytes(bytes[at + 4 * i..][..4].try_into().unwrap()));
            assert_eq!(found, trajectory.pose(frame, body).0, "{frame}, {body}");
        }
    }
    for change in [
        "friction=0.2",
        "gravity=0.5",
        "strength=leg_joint:0.2,foot_joint:0",
        "push=3:1:0:0",
        "actions=drawn",
        "hurdles=0.3&friction=0.9",
    ] {
        let (status, other) = get(&app, &format!("/api/run/0/gait?cell=6&seed=3&episode=1&{change}")).await;
        assert_eq!(status, 200, "{change}");
        assert_ne!(bytes, other, "{change}");
    }
}

#[tokio::test]
async fn nonsense_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    Made::of("walker2d", &[5, 5]).write(folder.path());
    let app = app(&[folder.path()]);
    for (path, status, reason) in [
        ("/api/run/1/outline", 404, "no such run"),
        ("/api/run/x/outline", 400, ""),
        ("/api/run/0/gait?cell=3", 422, "the nearest that holds one"),
        ("/api/run/0/gait?cell=99999999999999999999", 400, ""),
        ("/api/run/0/gait?cell=-1", 400, ""),
        ("/api/run/0/gait?friction=-1", 422, "friction"),
        ("/api/run/0/gait?friction=nan", 422, "friction"),
        ("/api/run/0/gait?gravity=inf", 422, "gravity"),
        ("/api/run/0/gait?strength=nothing:1", 422, "no actuator"),
        ("/api/run/0/gait?strength=leg_joint", 422, "strength must be"),
        ("/api/run/0/gait?push=1:2", 422, "push must be"),
        ("/api/run/0/gait?push=1:1e30:0:0", 422, "push"),
        ("/api/run/0/gait?actions=wild", 422, "mean or drawn"),
        ("/api/run/0/gait?robot=/etc/passwd", 400, "robot"),
        ("/api/run/0/picture/3", 404, "no picture"),
        ("/api/run/0/../../../etc/passwd", 404, "no such page"),
        ("/../../etc/passwd", 404, "no such page"),
        ("/%2e%2e/%2e%2e/etc/passwd", 404, "no such page"),
        ("/api/run/..%2f..%2fetc/outline", 400, ""),
    ] {
        let (found, told) = problem(&app, path).await;
        assert_eq!(found, status, "{path}: {told}");
        assert!(told.contains(reason), "{path}: {told}");
    }
}

#[tokio::test]
async fn other_pages_and_other_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    Made::of("hopper", &[5]).write(folder.path());
    let app = app(&[folder.path()]);
    let path = "/api/run/0/outline";
    let with = |name: &str, value: &str| asking(path).header(name, value).body(Body::empty()).unwrap();
    let named =
        |host: &str| Request::builder().uri(path).header(header::HOST, host).body(Body::empty()).unwrap();
    for request in [
        named("evil.example"),
        named("evil.example:8420"),
        named("127.0.0.1"),
        named("127.0.0.1:1"),
        named("127.0.0.1:8420.evil.example"),
        named("192.168.0.7:8420"),
        Request::builder().uri(path).body(Body::empty()).unwrap(),
        asking(path).header(header::HOST, "evil.example").body(Body::empty()).unwrap(),
        with("origin", "http://evil.example"),
        with("origin", "null"),
        with("origin", "https://127.0.0.1:8420.evil.example"),
        with("origin", "http://127.0.0.1:9999"),
        with("sec-fetch-site", "cross-site"),
        with("sec-fetch-site", "same-site"),
    ] {
        let told = format!("{request:?}");
        assert_eq!(send(&app, request).await.status(), StatusCode::FORBIDDEN, "{told}");
    }
    for request in [
        named("localhost:8420"),
        named("[::1]:8420"),
        with("origin", "http://127.0.0.1:8420"),
        with("sec-fetch-site", "same-origin"),
    ] {
        let answer = send(&app, request).await;
        assert_eq!(answer.status(), 200);
        let policy = answer.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let request = asking(path).method(method).body(Body::empty()).unwrap();
        assert_eq!(send(&app, request).await.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
    }
    let heavy = asking(path).header(header::CONTENT_LENGTH, "1000000000").body(Body::empty()).unwrap();
    assert_eq!(send(&app, heavy).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let long = asking(&format!("{path}?{}", "a".repeat(10_000))).body(Body::empty()).unwrap();
    assert_eq!(send(&app, long).await.status(), StatusCode::URI_TOO_LONG);
}

#[tokio::test]
async fn other_machines_need_the_token() {
    let folder = tempfile::tempdir().unwrap();
    Made::of("hopper", &[5]).write(folder.path());
    let address: SocketAddr = "0.0.0.0:8420".parse().unwrap();
    let access = Access::of("0.0.0.0", address).unwrap();
    let token = access.token().unwrap().to_owned();
    assert_eq!(access.url("0.0.0.0", address), format!("http://localhost:8420/?token={token}"));
    assert_ne!(Access::of("0.0.0.0", address).unwrap().token(), Some(&*token), "drawn anew each time");
    let app = App::new(vec![Run::open(folder.path()).unwrap()], access);
    let ask = |path: &str, cookie: &str| {
        let asked = Request::builder().uri(path).header(header::HOST, "192.168.0.7:8420");
        asked.header(header::COOKIE, cookie).body(Body::empty()).unwrap()
    };
    for (path, cookie) in [
        ("/", ""),
        ("/api/runs", ""),
        ("/?token=", ""),
        ("/?token=0123456789abcdef0123456789abcdef", ""),
        ("/api/runs", "magpie-8420=0123456789abcdef0123456789abcdef"),
        (&format!("/api/runs?token={token}"), ""),
    ] {
        assert_eq!(send(&app, ask(path, cookie)).await.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
    let answer = send(&app, ask(&format!("/?token={token}"), "")).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let cookie = answer.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(send(&app, ask("/api/runs", cookie)).await.status(), 200);
    // A name could be pointed at this machine by somebody else.
    let named = Request::builder().uri("/api/runs").header(header::HOST, "evil.example:8420");
    let named = named.header(header::COOKIE, cookie).body(Body::empty()).unwrap();
    assert_eq!(send(&app, named).await.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_run_by_an_enemy_opens_no_file_of_ours_and_its_words_stay_words() {
    let around = tempfile::tempdir().unwrap();
    let folder = around.path().join("run");
    fs::create_dir(&folder).unwrap();
    fs::write(around.path().join("secret.toml"), "the secret = \"of this machine\"").unwrap();
    let words = "</script><script>alert(1)</script>".to_owned();
    let robot = EnvOverrides { robot: Some("../secret.toml".into()), ..EnvOverrides::default() };
    Made { names: Some(vec![words.clone()]), world: robot, ..Made::of("hopper", &[5]) }.write(&folder);
    #[cfg(unix)]
    {
        fs::remove_file(folder.join("config.toml")).unwrap();
        std::os::unix::fs::symlink(around.path().join("secret.toml"), folder.join("config.toml")).unwrap();
        fs::remove_file(folder.join("metrics.csv")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.join("metrics.csv")).status().unwrap();
        assert!(made.success());
    }
    let app = app(&[&folder]);
    let (_, told) = problem(&app, "/api/run/0/outline").await;
    assert!(told.contains("outside of its folder") && !told.contains("of this machine"), "{told}");
    let outline: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(outline["names"][0], words);
    let (status, told) = problem(&app, "/api/run/0/gait").await;
    assert_eq!(status, 422);
    assert!(told.contains("outside of its folder") && !told.contains("of this machine"), "{told}");
    // A pipe is not waited for, and a file that is no configuration is not shown.
    let (_, told) = problem(&app, "/api/run/0/metrics").await;
    assert!(!told.contains("of this machine"), "{told}");
    // In an exported page, the words cannot end the element that they are in.
    let run = Run::open(&folder).unwrap();
    let page = magpie_view::export::export_gaits(&run, Vec::new()).unwrap();
    assert!(!page.contains("<script>alert"), "the words became markup");
}

#[tokio::test]
async fn a_run_that_is_damaged_or_vanishes_is_told_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    Made::of("hopper", &[5]).write(&run);
    let app = app(&[&run]);
    assert_eq!(value(&app, "/api/run/0/outline").await["iteration"], 1);
    let archive = run.join("archive.safetensors");
    let whole = fs::read(&archive).unwrap();
    fs::write(&archive, &whole[..whole.len() / 2]).unwrap();
    for path in ["/api/run/0/outline", "/api/run/0/gait"] {
        let (status, told) = problem(&app, path).await;
        assert_eq!(status, 422);
        assert!(told.contains("damaged"), "{told}");
    }
    fs::rename(&run, folder.path().join("away")).unwrap();
    let (status, told) = problem(&app, "/api/run/0/outline").await;
    assert_eq!(status, 422);
    assert!(told.contains("there is no such file"), "{told}");
    fs::rename(folder.path().join("away"), &run).unwrap();
    Made { iteration: 2, ..Made::of("hopper", &[5]) }.write(&run);
    assert_eq!(value(&app, "/api/run/0/outline").await["iteration"], 2);
}

#[test]
fn what_is_no_run_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let error = Run::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("holds no run"), "{error}");
}
