//! The page in a real browser: no errors, every picture visible, on a desktop and on a phone.
//!
//! Needs Chromium: the program that `MAGPIE_CHROMIUM` names, or one of the usual names on the path. Without any the test
//! says so and passes, except where `CI` is set: there it must be installed. To look at the page oneself, name a file in
//! `MAGPIE_PAGE`: it gets a copy.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::sweep;
use magpie_report::report;
use serde_json::Value;

/// Asked of the page after it has loaded; the answer goes to the frame around it.
const PROBE: &str = r##"<script>
window.addEventListener("load", () => setTimeout(() => {
  const seen = {};
  const look = (figure) => {
    const box = figure.querySelector("svg").getBoundingClientRect();
    if (box.width > 0 && box.height > 0) seen[figure.id] = [box.left, box.right, box.width, box.height];
  };
  const figures = [...document.querySelectorAll("figure")];
  const first = figures.filter((f) => f.getBoundingClientRect().height > 0).length;
  for (const axes of document.querySelectorAll(".axes"))
    for (const tab of axes.querySelectorAll(".tabs button")) { tab.click(); figures.forEach(look); }
  const head = document.querySelector("#results table th:nth-child(6) button");
  const scores = () => [...document.querySelector("#results tbody").rows].map((r) => Number(r.cells[5].dataset.v)).filter((v) => !isNaN(v));
  head.click();
  const sorted = scores().every((v, i, all) => i === 0 || all[i - 1] <= v);
  const svg = document.querySelector(".axis:not([hidden]) svg");
  const box = svg.getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width * 0.6, clientY: box.top + box.height * 0.6, bubbles: true }));
  const map = document.querySelector("svg path[data-value]");
  const hint = document.getElementById("hint").textContent;
  const at = map.getBoundingClientRect();
  map.dispatchEvent(new PointerEvent("pointermove", { clientX: at.left + 1, clientY: at.top + 1, bubbles: true }));
  const answer = {
    errors: window.problems, figures: figures.length, first, seen, sorted, hint,
    cell: document.getElementById("hint").textContent,
    page: [document.documentElement.clientWidth, document.documentElement.scrollWidth],
  };
  parent.postMessage(JSON.stringify(answer), "*");
}, 50));
</script>"##;

/// Shows the page as wide as a screen is, because windows have a least width that telephones do not have, and puts its
/// answer where `--dump-dom` shows it.
fn frame(width: u32) -> String {
    format!(
        r#"<!DOCTYPE html><body><iframe src="page.html" style="border:0;width:{width}px;height:900px"></iframe><script>
addEventListener("message", (event) => {{
  const pre = document.createElement("pre");
  pre.id = "answer";
  pre.textContent = event.data;
  document.body.append(pre);
}});
</script></body>"#
    )
}

/// Before any script of the page.
const WATCH: &str = r#"<script>window.problems = [];
window.addEventListener("error", (e) => window.problems.push(String(e.message)));
window.addEventListener("unhandledrejection", (e) => window.problems.push(String(e.reason)));
console.error = (...all) => window.problems.push(all.join(" "));</script>"#;

fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MAGPIE_CHROMIUM") {
        return Some(named.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().flat_map(|name| places.iter().map(move |place| place.join(name))).find(|file| file.is_file())
}

fn ask(browser: &Path, page: &Path, profile: &Path) -> Value {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-extensions", "--hide-scrollbars", "--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("--window-size=1400,900")
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout);
    let answer = dom.split("<pre id=\"answer\">").nth(1).and_then(|rest| rest.split("</pre>").next());
    let answer = answer.unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(&output.stderr)));
    let answer = answer.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&answer).expect("JSON")
}

#[test]
fn a_browser_shows_every_picture_without_an_error() {
    let Some(browser) = chromium() else {
        assert!(std::env::var_os("CI").is_none(), "no Chromium; install it, or name it in MAGPIE_CHROMIUM");
        println!("skipped: there is no Chromium; install it, or name it in MAGPIE_CHROMIUM");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    sweep(folder.path());
    let html = report(&[folder.path().to_owned()]).unwrap().html();
    if let Some(copy) = std::env::var_os("MAGPIE_PAGE") {
        std::fs::write(copy, &html).unwrap();
    }
    let page = folder.path().join("page.html");
    let probed = html.replacen("<head>", &format!("<head>{WATCH}"), 1).replacen(
        "</body>",
        &format!("{PROBE}</body>"),
        1,
    );
    std::fs::write(&page, probed).unwrap();
    for width in [1280, 390] {
        let around = folder.path().join("frame.html");
        std::fs::write(&around, frame(width)).unwrap();
        let answer = ask(&browser, &around, &folder.path().join(format!("profile-{width}")));
        assert_eq!(answer["errors"], serde_json::json!([]), "{width}");
        let seen = answer["seen"].as_object().unwrap();
        // Those of the page, and where the demonstrations of two tasks lie.
        const FIGURES: usize = 57 + 2;
        assert_eq!(answer["figures"], FIGURES);
        assert_eq!(seen.len(), FIGURES, "{width}: each picture is visible in its tab");
        // One of three axes is shown at first.
        assert_eq!(answer["first"], FIGURES - 3 * 8, "{width}");
        assert_eq!(answer["page"][0], width);
        let page_width = f64::from(width);
        assert!(
            answer["page"][1].as_f64().unwrap() <= page_width + 1.0,
            "{width}: the page is wider than the screen"
        );
        for (name, place) in seen {
            let [left, right, wide, high] = [0, 1, 2, 3].map(|i| place[i].as_f64().unwrap());
            assert!(wide > 200.0 && high > 100.0, "{width}, {name}: {wide} × {high}");
            // Fields for pairs of measures have a scroll bar of their own on a telephone.
            assert!(
                left >= 0.0 && (right <= page_width + 1.0 || name.starts_with("ant")),
                "{width}, {name}: {left} to {right}"
            );
        }
        assert_eq!(answer["sorted"], true);
        let hint = answer["hint"].as_str().unwrap();
        assert!(hint.starts_with("at ") && hint.contains("GAIL-EBC: "), "{hint}");
        let cell = answer["cell"].as_str().unwrap();
        assert!(cell.starts_with("cell ") && cell.contains("return"), "{cell}");
    }
}
