//! Archives in changed worlds, as reports show them.

mod common;

use std::path::Path;

use common::Sketch;
use magpie_report::report;
use magpie_run::adapt::{AdaptTask, Adaptation, Case, FewShots, PAPER_TASKS, Reported, Trial, TrialSettings};
use magpie_run::load_outline;

/// A run whose adapted elites return `adapted` at every level, and 20 more in the healthy world.
fn run(folder: &Path, sketch: &Sketch, task: &str, adapted: f64) {
    sketch.write(folder);
    let outline = load_outline(&folder.join("archive.safetensors")).unwrap();
    let (_, text) = PAPER_TASKS.iter().find(|(name, _)| *name == task).unwrap();
    let task = AdaptTask::from_toml(text, "built-in").unwrap();
    let elites = outline.elites.len();
    let case = |at: f64, healthy: bool| {
        let reported = |less: f64| Reported {
            elite: 0,
            mean: adapted - less + if healthy { 20.0 } else { 0.0 },
            error: 1.0,
        };
        let few = FewShots {
            settings: TrialSettings::default(),
            trials: vec![Trial { candidate: 0, value: 1.0 }; 2],
            stopped: Some(2),
            trial_and_error: vec![adapted - 50.0, adapted - 10.0],
            random: vec![adapted - 70.0, adapted - 60.0],
            best_stored: vec![adapted - 60.0, adapted - 40.0],
        };
        Case {
            at,
            healthy,
            world: "changed".to_owned(),
            returns: vec![adapted; elites],
            first_trials: vec![adapted; elites],
            adapted: reported(0.0),
            unadapted: reported(30.0),
            oracle: reported(-5.0),
            few_shots: (!healthy).then_some(few),
        }
    };
    let mut cases = vec![case(task.level.healthy, true)];
    cases.extend(task.level.levels.iter().map(|&level| case(level, false)));
    let adaptation = Adaptation {
        format: 1,
        random: false,
        archive: outline.fingerprint(),
        iteration: outline.about.iteration,
        actions: "drawn".to_owned(),
        seed: 0,
        episodes: 10,
        report_episodes: 100,
        cells: outline.elites.iter().map(|elite| elite.cell).collect(),
        task,
        cases,
    };
    adaptation.save(folder).unwrap();
}

#[test]
fn inter_quartile_means_of_every_level_and_one_figure_with_a_panel_a_task() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: String| folder.path().join(name);
    for (task, robot, measure) in [
        ("friction", "walker2d", "feet_contact"),
        ("motor", "humanoid", "feet_contact"),
        ("hurdles", "humanoid", "jump"),
    ] {
        for (curiosity, more) in [(0.0, 0.0), (2.0, 1000.0)] {
            for (seed, adapted) in [(1, 100.0), (2, 200.0), (3, 600.0)] {
                let sketch = Sketch { task: robot, measure, curiosity, seed, ..Sketch::default() };
                run(&at(format!("{task}-{curiosity}-{seed}")), &sketch, task, adapted + more);
            }
        }
    }
    let out = folder.path().join("report");
    let report = report(&[folder.path().to_owned()]).unwrap();
    let html = report.html();
    assert!(html.contains("Few-shot adaptation") && !html.contains("NaN"));
    report.write(&out).unwrap();
    let table = std::fs::read_to_string(out.join("tables/adaptation.csv")).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 1 + 3 * 2 * 6, "{table}");
    // Three values keep all of their quarters: 300 is their mean, and the interval lies between the ends.
    let fields = |row: &str| -> Vec<String> {
        row.split('"')
            .enumerate()
            .flat_map(|(i, part)| match i % 2 {
                0 => part.split(',').filter(|field| !field.is_empty()).map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            })
            .collect()
    };
    let row = rows.iter().find(|row| row.contains("friction,1.25,GAIL,")).unwrap();
    let numbers: Vec<f64> = fields(row).iter().skip(4).map(|field| field.parse().unwrap()).collect();
    let [archives, unadapted, _, _, adapted, low, high, oracle, ..] = numbers[..] else { panic!("{row}") };
    assert_eq!((archives, unadapted, oracle), (3.0, 270.0, 305.0), "{row}");
    assert!(
        (adapted - 300.0).abs() < 1e-9 && (100.0..200.0).contains(&low) && (400.0..=600.0).contains(&high)
    );
    assert!(rows.iter().any(|row| row.contains("1 (healthy)") && row.contains("320")), "{table}");
    for name in [
        "adaptation-panels.svg",
        "adaptation-panels.png",
        "walker2d-feet_contact-adaptation-friction.svg",
        "humanoid-jump-adaptation-hurdles.svg",
        "humanoid-feet_contact-trials-motor.svg",
    ] {
        assert!(out.join("figures").join(name).is_file(), "{name}");
    }
    let panels = std::fs::read_to_string(out.join("figures/adaptation-panels.svg")).unwrap();
    assert_eq!(panels.matches("<svg").count(), 1 + 3);
    assert!(out.join("tables/adaptation.tex").is_file());
}

#[test]
fn results_of_an_earlier_archive_are_left_out_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &Sketch::default(), "friction", 100.0);
    Sketch { level: 900.0, ..Sketch::default() }.write(folder.path());
    let report = report(&[folder.path().to_owned()]).unwrap();
    let note = report.notes().iter().find(|note| note.problem.contains("magpie adapt"));
    assert!(note.is_some(), "{:?}", report.notes());
    assert!(!report.html().contains("Few-shot adaptation"));
}
