//! `magpie replay` and `magpie view`: what is written, and that a replayed gait is what `magpie rollout` computes.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{magpie, said, succeed, text};

/// A search of one iteration.
fn train(folder: &Path) {
    succeed(&[
        "train",
        "walker2d",
        "--reward",
        "true",
        "--iterations",
        "1",
        "--out",
        text(folder),
        "--set",
        "search.environments=48",
        "--set",
        "search.branches=6",
        "--set",
        "search.train.rollout_length=24",
    ]);
}

fn array(path: &Path, name: &str) -> Vec<f64> {
    magpie_golden::Npz::open(text(path)).array(name).data
}

#[test]
fn a_replayed_gait_is_what_a_rollout_computes_and_what_an_evaluation_reports() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    train(&at("run"));
    let (gait, rolled) = (at("gait.npz"), at("rolled.npz"));
    let said = succeed(&["replay", text(&at("run")), "--seed", "4", "--out", text(&gait), "--json"]);
    let event: serde_json::Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
    succeed(&["rollout", "walker2d", "--from", text(&gait), "--out", text(&rolled)]);
    for name in ["pos", "rot", "vel", "ang", "reward", "obs", "feet_contact"] {
        assert_eq!(array(&gait, name), array(&rolled, name), "{name}");
    }
    let total: f64 = array(&gait, "reward").iter().sum();
    assert_eq!(event["total"], total);
    let cell = event["cell"].as_str().unwrap();
    let evaluated = succeed(&[
        "eval",
        text(&at("run")),
        "--cell",
        cell,
        "--seed",
        "4",
        "--episodes",
        "1",
        "--actions",
        "drawn",
        "--json",
    ]);
    let drawn =
        succeed(&["replay", text(&at("run")), "--cell", cell, "--seed", "4", "--actions", "drawn", "--json"]);
    let drawn: serde_json::Value = serde_json::from_str(drawn.lines().next().unwrap()).unwrap();
    let number = format!("{}", drawn["total"]);
    assert!(evaluated.contains(&number), "{number} is not in {evaluated}");

    // Every kind of file.
    let names = ["a.json", "a.html", "a.gif", "a.png", "a.xml"];
    let mut arguments = vec!["replay".to_owned(), text(&at("run")).to_owned(), "--best".to_owned()];
    arguments
        .extend(["--seconds", "0.2", "--from", "0", "--width", "200", "--moments", "3"].map(str::to_owned));
    for name in names {
        arguments.extend(["--out".to_owned(), text(&at(name)).to_owned()]);
    }
    succeed(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let starts = |name: &str, bytes: &[u8]| assert!(fs::read(at(name)).unwrap().starts_with(bytes), "{name}");
    starts("a.gif", b"GIF89a");
    starts("a.png", b"\x89PNG");
    starts("a.html", b"<!DOCTYPE html>");
    starts("a.xml", b"<mujoco model=\"walker2d\">");
    let document: serde_json::Value = serde_json::from_slice(&fs::read(at("a.json")).unwrap()).unwrap();
    assert_eq!(document["pos"].as_array().unwrap().len(), document["reward"].as_array().unwrap().len() + 1);

    // Several side by side, and as a page without a server.
    succeed(&[
        "replay",
        text(&at("run")),
        "--spread",
        "2",
        "--seconds",
        "0.1",
        "--width",
        "300",
        "--out",
        text(&at("b.gif")),
    ]);
    let exported = succeed(&["view", text(&at("run")), "--export", text(&at("c.html")), "--spread", "2"]);
    assert!(exported.contains("MB"), "{exported}");
    let page = fs::read_to_string(at("c.html")).unwrap();
    assert!(page.contains("sha256-"));
    // The name of SVG, which is no address.
    assert_eq!(
        page.matches("http").count(),
        page.matches("http://www.w3.org/2000/svg").count() + page.matches("http-equiv").count()
    );
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    train(&at("run"));
    for (arguments, problem) in [
        (["replay", text(&at("run")), "--out", "gait.mp4"], "ending"),
        (["replay", text(&at("run")), "--cell", "900,900"], "the cell"),
        (["replay", text(folder.path()), "--seed", "1"], "holds no run"),
        (["view", text(folder.path()), "--port", "0"], "holds no run"),
    ] {
        let output = magpie(&arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(said(&output).contains(problem), "{arguments:?}: {}", said(&output));
    }
    let two = magpie(&["replay", text(&at("run")), "--spread", "2", "--out", text(&at("two.npz"))]);
    assert!(said(&two).contains("name one cell"), "{}", said(&two));
    let large = magpie(&["view", text(&at("run")), "--export", text(&at("x.html")), "--max-size", "0"]);
    assert!(said(&large).contains("choose fewer cells"), "{}", said(&large));
    assert!(!at("x.html").exists());
}

#[test]
fn a_page_is_served_until_the_process_ends() {
    let folder = tempfile::tempdir().unwrap();
    train(folder.path());
    let mut server = Command::new(env!("CARGO_BIN_EXE_magpie"))
        .args(["view", text(folder.path()), "--port", "0", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let event: serde_json::Value = serde_json::from_str(&line).unwrap();
    let url = event["url"].as_str().unwrap();
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let ask = |host: &str, named: &str| {
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET /api/runs HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = ask(host, host);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("[\""), "{answer}");
    assert!(ask(host, "evil.example").starts_with("HTTP/1.1 403"));
    server.kill().unwrap();
    server.wait().unwrap();
}
