//! The page in a real browser. To look at it oneself, name a folder in `MAGPIE_PAGE`: it gets pictures.

mod common;
#[path = "common/browser.rs"]
mod driver;

use std::path::PathBuf;

use common::Made;
use driver::Browser;
use magpie_learn::Actions;
use magpie_run::EnvOverrides;
use magpie_run::operations::{ReplayOptions, Trajectory};
use magpie_view::export::{ExportOptions, Gaits, export};
use magpie_view::{Run, serve};

const DESKTOP: [u32; 2] = [1280, 1000];

/// The gait that the page shows before anything is changed.
fn trajectory(run: &Run, cell: usize, friction: f64) -> Trajectory {
    let options = ReplayOptions {
        world: EnvOverrides { friction, ..EnvOverrides::default() },
        gravity: 1.0,
        actions: Actions::Mean,
        seed: 0,
        episode: 0,
        steps: None,
        push: None,
    };
    run.choose(Some(cell)).unwrap().play(&options).unwrap()
}

/// The place of a cell of a grid in the window, as people would point at it.
fn place(browser: &Browser, [i, j]: [f64; 2], [wide, high]: [f64; 2]) -> [f64; 2] {
    let box_of = browser.run(
        "const b = document.getElementById('cells').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]",
    );
    let [left, top, width, height] = [0, 1, 2, 3].map(|k| box_of[k].as_f64().unwrap());
    // The margins of map.js.
    let (w, h) = (width - 62.0, height - 52.0);
    [left + 52.0 + (i + 0.5) / wide * w, top + 8.0 + (1.0 - (j + 0.5) / high) * h]
}

/// Position of the robot in the frame that is shown, exactly.
fn root(browser: &Browser) -> (usize, Vec<f32>) {
    let frame = browser.text("document.getElementById('readout').dataset.frame").parse().unwrap();
    let text = browser.text("document.getElementById('readout').dataset.root");
    (frame, text.split(' ').map(|v| v.parse::<f64>().unwrap() as f32).collect())
}

#[test]
fn the_page_shows_the_archive_and_the_gaits_and_follows_the_run() {
    let folder = tempfile::tempdir().unwrap();
    Made::of("walker2d", &[10, 10]).write(folder.path());
    let Some(browser) = Browser::open(DESKTOP, false) else { return };
    let server = serve(vec![Run::open(folder.path()).unwrap()], None, 0).unwrap();
    let url = server.url.clone();
    std::thread::spawn(move || server.run());
    browser.go(&url);
    browser.wait("document.documentElement.dataset.ready === 'yes'");
    browser.wait("document.querySelectorAll('#racers li').length === 1");

    // The map is drawn: a hundred cells of which every fourth is empty.
    let map = browser.text("document.getElementById('cells').getAttribute('aria-label')");
    assert!(map.contains("75 of 100 cells hold an elite"), "{map}");
    let colours = browser.run(
        "const c = document.getElementById('cells'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; \
         const s = new Set(); for (let i = 0; i < d.length; i += 4) s.add(d[i] << 16 | d[i+1] << 8 | d[i+2]); return s.size",
    );
    assert!(colours.as_u64().unwrap() > 40, "{colours} colours");

    // Hover: numbers.
    Browser::point(place(&browser, [2.0, 4.0], [10.0, 10.0]), &browser, false, false);
    browser.wait("!document.getElementById('tip').hidden");
    let tip = browser.text("document.getElementById('tip').innerText");
    assert!(tip.contains("Cell 2,4") && tip.contains("return") && tip.contains("0.25"), "{tip}");
    Browser::point(place(&browser, [0.0, 3.0], [10.0, 10.0]), &browser, false, false);
    browser.wait("document.getElementById('tip').hidden");

    // Click: the gait plays, and the robot is where the simulator puts it.
    Browser::point(place(&browser, [2.0, 4.0], [10.0, 10.0]), &browser, true, false);
    browser.wait("document.getElementById('racers').innerText.includes('cell 2,4')");
    let run = Run::open(folder.path()).unwrap();
    let own = trajectory(&run, 24, 1.0);
    for frame in 1..6 {
        browser.run(&format!(
            "const s = document.getElementById('scrub'); s.value = {}; s.dispatchEvent(new Event('input'))",
            frame - 1
        ));
        browser.run("document.getElementById('forward').click()");
        browser.wait(&format!("document.getElementById('readout').dataset.frame === '{frame}'"));
        let (shown, found) = root(&browser);
        assert_eq!(found, own.pose(shown, own.robot.root).0, "frame {shown}");
    }
    // Something is drawn: a robot is not of the colours of the ground.
    let drawn = browser.run(
        "const c = document.getElementById('scene'); const d = document.createElement('canvas'); \
         d.width = 160; d.height = 100; return new Promise((done) => requestAnimationFrame(() => { \
         document.getElementById('forward').click(); requestAnimationFrame(() => { \
         const x = d.getContext('2d'); x.drawImage(c, 0, 0, 160, 100); const p = x.getImageData(0, 0, 160, 100).data; let n = 0; \
         for (let i = 0; i < p.length; i += 4) if (p[i + 2] > p[i] + 40) n++; done(n); }); }))",
    );
    assert!(drawn.as_u64().unwrap() > 30, "{drawn} blue pixels");

    // Sliders change the gait at once.
    let before = browser.text("document.getElementById('stage').dataset.gaits");
    browser.run(
        "const k = document.getElementById('knob-friction'); k.value = 0.1; k.dispatchEvent(new Event('input'))",
    );
    browser.wait(&format!("document.getElementById('stage').dataset.gaits !== '{before}'"));
    let slippery = trajectory(&run, 24, 0.1).recording.true_return();
    let shown: f64 = browser.text("document.getElementById('stage').dataset.gaits").parse().unwrap();
    // The page adds up single rewards in doubles, as the simulator does.
    assert!((shown - slippery).abs() < 1e-9 * slippery.abs().max(1.0), "{shown}, {slippery}");
    browser.run("document.getElementById('mend').click()");
    browser.wait(&format!("document.getElementById('stage').dataset.gaits === '{before}'"));

    // A race.
    Browser::point(place(&browser, [5.0, 4.0], [10.0, 10.0]), &browser, true, true);
    browser.wait("document.querySelectorAll('#racers li').length === 2");

    // Keys.
    browser.run("document.getElementById('cells').focus()");
    browser.run(
        "for (const key of ['b', 'ArrowLeft', 'Enter']) \
         document.getElementById('cells').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))",
    );
    browser.wait("document.getElementById('announce').textContent.startsWith('Cell ')");
    browser.wait("document.querySelectorAll('#racers li').length === 1");

    // The run goes on.
    Made { iteration: 2, ..Made::of("walker2d", &[10, 10]) }.write(folder.path());
    browser.wait("document.getElementById('archive').dataset.iteration === '2'");
    let before = browser.text("document.getElementById('search-curves').innerText");
    assert!(before.contains("3,000"), "{before}");
    // It is damaged, which is said, and mended.
    let archive = folder.path().join("archive.safetensors");
    let whole = std::fs::read(&archive).unwrap();
    std::fs::write(&archive, &whole[..1000]).unwrap();
    browser.wait("document.getElementById('notice').textContent.includes('damaged')");
    assert!(browser.errors().iter().all(|error| error.contains("422")), "the refused request is logged");
    std::fs::write(&archive, &whole).unwrap();
    browser.wait("document.getElementById('notice').hidden");

    assert_eq!(browser.errors(), [""; 0]);
    for request in browser.requests() {
        assert!(request.starts_with(&url), "{request}");
    }
}

#[test]
fn an_exported_page_opens_from_the_disk_without_a_network() {
    let folder = tempfile::tempdir().unwrap();
    Made::of("walker2d", &[10, 10]).write(folder.path());
    let Some(browser) = Browser::open([390, 844], true) else { return };
    let run = Run::open(folder.path()).unwrap();
    let options = ExportOptions { gaits: Gaits::Cells(vec![24, 57]), rate: 1000, ..ExportOptions::default() };
    let page = folder.path().join("page.html");
    std::fs::write(&page, export(std::slice::from_ref(&run), &options, &mut |_, _| ()).unwrap()).unwrap();
    browser.command("Network.enable", serde_json::json!({}));
    let off =
        serde_json::json!({"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0});
    browser.command("Network.emulateNetworkConditions", off);
    browser.go(&format!("file://{}", page.display()));
    browser.wait("document.documentElement.dataset.ready === 'yes'");
    browser.wait("document.querySelectorAll('#racers li').length === 1");
    assert_eq!(browser.text("document.documentElement.dataset.theme"), "dark");
    let wide = browser.run("return document.documentElement.scrollWidth");
    assert!(wide.as_u64().unwrap() <= 390, "the page is wider than the screen: {wide}");
    // Poses are halves there, which is a millimetre.
    let own = trajectory(&run, 24, 1.0);
    browser
        .run("const s = document.getElementById('scrub'); s.value = 5; s.dispatchEvent(new Event('input'))");
    browser.wait("document.getElementById('readout').dataset.frame === '5'");
    let (_, found) = root(&browser);
    for (a, b) in found.iter().zip(own.pose(5, own.robot.root).0) {
        assert!((a - b).abs() < 1e-3, "{found:?}");
    }
    assert_eq!(browser.errors(), [""; 0]);
    assert_eq!(browser.requests(), [""; 0]);
}

/// Not a test of what is right, but pictures for people to look at.
#[test]
fn pictures_of_the_page() {
    let Some(to) = std::env::var_os("MAGPIE_PAGE").map(PathBuf::from) else { return };
    let folder = tempfile::tempdir().unwrap();
    let named = std::env::var_os("MAGPIE_RUN").map(PathBuf::from);
    let run = named.unwrap_or_else(|| {
        Made::of("ant", &[5, 5, 5, 5]).write(folder.path());
        folder.path().to_owned()
    });
    let server = serve(vec![Run::open(&run).unwrap()], None, 0).unwrap();
    let url = server.url.clone();
    std::thread::spawn(move || server.run());
    for (width, height) in [(390, 844), (1280, 900), (2560, 1440)] {
        for dark in [false, true] {
            let Some(browser) = Browser::open([width, height], dark) else { return };
            browser.go(&url);
            browser.wait("document.documentElement.dataset.ready === 'yes'");
            browser.wait("document.querySelectorAll('#racers li').length === 1");
            browser.run("const s = document.getElementById('scrub'); s.value = 100; s.dispatchEvent(new Event('input'))");
            std::thread::sleep(std::time::Duration::from_millis(1500));
            let name = format!("{width}-{}.png", if dark { "dark" } else { "light" });
            browser.picture(&to.join(name), true);
            println!("{width}: {:?}", browser.errors());
        }
    }
}
