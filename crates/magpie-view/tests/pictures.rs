//! Pictures that are drawn without a GPU.

mod common;

use common::Made;
use magpie_run::operations::ReplayOptions;
use magpie_view::Run;
use magpie_view::picture::{GifOptions, Panel, Shot, Theme, gif, strip};

fn panels(count: usize) -> Vec<Panel> {
    let folder = tempfile::tempdir().unwrap();
    Made::of("walker2d", &[5, 5]).write(folder.path());
    let run = Run::open(folder.path()).unwrap();
    let cells = run.spread(count).unwrap();
    assert_eq!(cells.len(), count);
    let panel = |cell: usize| {
        let chosen = run.choose(Some(cell)).unwrap();
        let options = ReplayOptions {
            world: chosen.world.clone(),
            gravity: 1.0,
            actions: chosen.actions,
            seed: 0,
            episode: 0,
            steps: None,
            push: None,
        };
        let (title, subtitle) = (format!("cell {}", chosen.name), "feet".to_owned());
        Panel { trajectory: chosen.play(&options).unwrap(), title, subtitle }
    };
    cells.into_iter().map(panel).collect()
}

#[test]
fn a_robot_stands_on_the_ground_and_throws_a_shadow() {
    let trajectory = &panels(1)[0].trajectory;
    let shot = Shot::of(trajectory, 0, [0.0, 0.2, 0.9]);
    let canvas = shot.draw([shot.root()[0], 0.0, 0.8], 2.4, [200, 150], Theme::Light);
    let luminance = |[r, g, b]: [f32; 3]| 0.2 * r + 0.7 * g + 0.1 * b;
    let blue: Vec<usize> =
        (0..canvas.pixels.len()).filter(|&i| canvas.pixels[i][2] > canvas.pixels[i][0] + 0.3).collect();
    assert!(blue.len() > 300 && blue.len() < 6000, "{} pixels of the robot", blue.len());
    // It is in the middle, and higher than wide.
    let span = |of: &dyn Fn(usize) -> usize| {
        let all = blue.iter().map(|&i| of(i));
        all.clone().max().unwrap() - all.min().unwrap()
    };
    let (wide, high) = (span(&|i| i % 200), span(&|i| i / 200));
    assert!(high > 70 && high > wide, "{wide} × {high}");
    let ground = Theme::Light.ground().map(luminance);
    let dark = ground[0].min(ground[1]) - 0.1;
    let shadow = canvas.pixels.iter().filter(|p| luminance(**p) < dark && p[2] < p[0] + 0.1).count();
    assert!(shadow > 100, "{shadow} pixels of the shadow");
    // Nothing is drawn twice differently.
    assert_eq!(canvas, shot.draw([shot.root()[0], 0.0, 0.8], 2.4, [200, 150], Theme::Light));
}

#[test]
fn a_moving_picture_has_its_frames_and_a_strip_its_moments() {
    let panels = panels(2);
    let options = GifOptions { from: 0.0, seconds: 0.3, rate: 20, width: 240, ..GifOptions::default() };
    let bytes = gif(&panels, &options, &|_, _| ()).unwrap();
    let mut reader = gif_decoder(&bytes);
    let (mut frames, mut delays) = (0, Vec::new());
    while let Some(frame) = reader.read_next_frame().unwrap() {
        frames += 1;
        delays.push(frame.delay);
    }
    assert_eq!((frames, delays), (6, vec![5; 6]));
    assert_eq!(bytes, gif(&panels, &options, &|_, _| ()).unwrap(), "the same bytes each time");
    let none = GifOptions { seconds: 0.0, ..options };
    assert!(gif(&panels, &none, &|_, _| ()).unwrap_err().to_string().contains("frames"));
    let strip = strip(&panels, 4, 0.0, 0.5, 320, Theme::Dark).unwrap();
    assert_eq!((strip.width, strip.height), (320, 2 * (100 + 28)));
    assert!(strip.png().unwrap().starts_with(b"\x89PNG"));
}

fn gif_decoder(bytes: &[u8]) -> gif::Decoder<&[u8]> {
    gif::DecodeOptions::new().read_info(bytes).unwrap()
}
