//! Chromium, driven by the driver that comes with it, in the protocol of WebDriver (https://www.w3.org/TR/webdriver2).
//!
//! Needs the programs that `MAGPIE_CHROMIUM` and `MAGPIE_CHROMEDRIVER` name, or `chromium` and `chromedriver` on the path.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A window of a browser; it is closed when this goes.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

fn program(variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(variable) {
        return Some(named.into());
    }
    let places: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    names.iter().flat_map(|name| places.iter().map(move |place| place.join(name))).find(|file| file.is_file())
}

impl Browser {
    /// `None`, with a word on the output, where there is none; with `CI` set there must be one.
    pub fn open([width, height]: [u32; 2], dark: bool) -> Option<Browser> {
        let chromium = program("MAGPIE_CHROMIUM", &["chromium", "chromium-browser", "google-chrome"]);
        let driver = program("MAGPIE_CHROMEDRIVER", &["chromedriver", "chromium-driver"]);
        let (Some(chromium), Some(driver)) = (chromium, driver) else {
            let problem = "no Chromium with its driver; install chromium and chromium-driver, or name them in \
                           MAGPIE_CHROMIUM and MAGPIE_CHROMEDRIVER";
            assert!(std::env::var_os("CI").is_none(), "{problem}");
            println!("skipped: {problem}");
            return None;
        };
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the driver starts");
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| {
                line.split("started successfully on port ").nth(1)?.trim_matches('.').parse().ok()
            })
            .expect("the driver says its port");
        // It would wait for somebody to read what it says.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let mut args: Vec<String> = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--use-gl=angle",
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-extensions",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
        ]
        .map(str::to_owned)
        .to_vec();
        args.push(format!("--user-data-dir={}", profile.path().display()));
        args.push(format!("--window-size={width},{height}"));
        let mut browser = Browser { driver, port, session: String::new(), _profile: profile };
        let asked = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": chromium, "args": args},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let made = browser.send("POST", "/session", &asked);
        browser.session = made["sessionId"].as_str().expect("a session").to_owned();
        // A window cannot be as narrow as a telephone; its contents can.
        let screen = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        browser.command("Emulation.setDeviceMetricsOverride", screen);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.command("Emulation.setEmulatedMedia", media);
        Some(browser)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut bytes = vec![0; length];
        answer.read_exact(&mut bytes).unwrap();
        let answer: Value = serde_json::from_slice(&bytes).unwrap();
        let value = answer["value"].clone();
        assert!(value["error"].is_null(), "{path}: {value}");
        value
    }

    fn ask(&self, path: &str, body: &Value) -> Value {
        self.send("POST", &format!("/session/{}/{path}", self.session), body)
    }

    /// A command of Chromium's own.
    pub fn command(&self, name: &str, parameters: Value) -> Value {
        self.ask("goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
    }

    pub fn go(&self, url: &str) {
        self.ask("url", &json!({"url": url}));
    }

    /// What a script returns.
    pub fn run(&self, script: &str) -> Value {
        self.ask("execute/sync", &json!({"script": script, "args": []}))
    }

    pub fn text(&self, script: &str) -> String {
        match self.run(&format!("return {script}")) {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub fn wait(&self, what: &str) {
        let begun = Instant::now();
        while self.run(&format!("return !!({what})")) != json!(true) {
            let late = begun.elapsed() > Duration::from_secs(60);
            assert!(
                !late,
                "{what} did not become true; the page says: {}",
                self.text("document.body.innerText")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Moves the pointer to a place of the window, and clicks if told so, with the shift key held down or not.
    pub fn point([x, y]: [f64; 2], browser: &Browser, clicks: bool, shift: bool) {
        let mut actions =
            vec![json!({"type": "pointerMove", "duration": 0, "x": x.round() as i64, "y": y.round() as i64})];
        if clicks {
            actions.push(json!({"type": "pointerDown", "button": 0}));
            actions.push(json!({"type": "pointerUp", "button": 0}));
        }
        let key = |kind: &str| json!({"type": kind, "value": "\u{e008}"});
        let pauses: Vec<Value> = actions.iter().map(|_| json!({"type": "pause"})).collect();
        let mut keys = pauses.clone();
        let mut pointer = actions;
        if shift {
            keys = [vec![key("keyDown")], pauses, vec![key("keyUp")]].concat();
            pointer.insert(0, json!({"type": "pause"}));
            pointer.push(json!({"type": "pause"}));
        }
        browser.ask(
            "actions",
            &json!({"actions": [
                {"type": "key", "id": "keys", "actions": keys},
                {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": pointer},
            ]}),
        );
    }

    /// Errors of scripts, of requests and of the content security policy since the last time.
    pub fn errors(&self) -> Vec<String> {
        let log = self.ask("se/log", &json!({"type": "browser"}));
        let severe = log.as_array().unwrap().iter().filter(|entry| entry["level"] == "SEVERE");
        severe.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Where the page got what it has.
    pub fn requests(&self) -> Vec<String> {
        let names = self.run("return performance.getEntriesByType('resource').map((e) => e.name)");
        let names = names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
        names.filter(|name| !name.starts_with("data:")).collect()
    }

    /// Writes what the window shows; with `whole`, all of the page.
    pub fn picture(&self, path: &Path, whole: bool) {
        use base64::Engine;
        let shot = self.command("Page.captureScreenshot", json!({"captureBeyondViewport": whole}));
        let bytes = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.send("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
