//! An archive over the cells of a tessellation (CVT), from the command line.

mod common;

use std::path::PathBuf;

use common::{magpie, said, succeed, text};
use magpie_envs::{Environment, Options};
use magpie_learn::Actions;
use magpie_nn::Shape;
use magpie_qd::{Acceptance, ArchivePair, Candidate, Cvt, Evidence, Provenance};
use magpie_random::Stream;
use magpie_run::{About, EnvOverrides, save_archive};

/// Cells of the tessellation.
const CELLS: usize = 12;

/// Six random policies of walker2d, with actors of another shape than usual that act by their means.
fn archive() -> (tempfile::TempDir, PathBuf) {
    let options = Options { measure: Some("feet_contact".to_owned()), ..Options::default() };
    let env = Environment::new("walker2d", options).unwrap();
    let actor = Shape::tanh(&[env.observation_size(), 8, env.action_size()]).unwrap();
    let parameters = actor.parameters() + actor.outputs();
    let extra = [vec![0.0; env.observation_size()], vec![1.0; env.observation_size() + 1]].concat();
    let cells = Cvt::uniform(&[0.0; 2], &[1.0; 2], CELLS, 500, 1).unwrap();
    let mut archives = ArchivePair::new(cells.clone(), Acceptance::Elitist, parameters, extra.len()).unwrap();
    let mut draws = Stream::new(1, "elites").draws(0, 0);
    for cell in 0..CELLS / 2 {
        let solution: Vec<f32> = (0..parameters).map(|_| draws.uniform(-0.5, 0.5)).collect();
        let candidate = Candidate {
            solution: &solution,
            extra: &extra,
            objective: cell as f64,
            measures: cells.centroid(cell).unwrap(),
            length: 10.0,
            evidence: Evidence::ONE,
            provenance: Provenance { iteration: 1, branch: None },
        };
        archives.add(&[candidate]).unwrap();
    }
    let (names, ranges) = env.measure_dimensions().into_iter().map(|d| (d.name, d.range)).unzip();
    let about = About {
        task: "walker2d".to_owned(),
        measure: "feet_contact".to_owned(),
        names,
        ranges,
        cells: cells.into(),
        actor,
        actions: Actions::Mean,
        world: EnvOverrides::default(),
        qd_offset: 1.413,
        iteration: 3,
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.safetensors");
    save_archive(&path, &archives, &about).unwrap();
    (folder, path)
}

#[test]
fn a_tessellation_is_described_and_exported() {
    let (_folder, path) = archive();
    let info = succeed(&["archive", "info", text(&path)]);
    for line in ["12 of a tessellation", "6 (coverage 50.00 %)", "in cell 5,", "17–8–6", "mean, as"] {
        assert!(info.contains(line), "{line} is missing: {info}");
    }
    succeed(&["archive", "export", text(&path), "--format", "csv"]);
    succeed(&["archive", "export", text(&path), "--format", "npz"]);
    let mut npz = magpie_golden::Npz::open(text(&path.with_extension("npz")));
    assert_eq!(npz.array("centroids").shape, [CELLS, 2]);
    assert_eq!(npz.array("fitnesses").data.iter().filter(|f| f.is_finite()).count(), CELLS / 2);
    let csv = std::fs::read_to_string(path.with_extension("csv")).unwrap();
    let (head, last) = (csv.lines().next().unwrap(), csv.lines().last().unwrap());
    let index = head.split(',').position(|column| column == "index").unwrap();
    assert_eq!(last.split(',').nth(index), Some("5"), "the number of the cell");
}

#[test]
fn its_elites_run_again_and_demonstrate() {
    let (_folder, path) = archive();
    let eval = |more: &[&str]| magpie(&[&["eval", text(&path), "--episodes", "1"], more].concat());
    let all = eval(&[]);
    let screen = String::from_utf8_lossy(&all.stdout).into_owned();
    assert!(screen.contains("6 elites, 1 episode each, mean actions"), "{screen} {}", said(&all));
    let drawn = String::from_utf8_lossy(&eval(&["--actions", "drawn"]).stdout).into_owned();
    assert!(drawn.contains("actions drawn as in training") && drawn != screen, "{drawn}");
    assert_eq!(eval(&["--best"]).stdout, eval(&["--cell", "5"]).stdout);
    for (cell, hint) in [("12", "0 to 11"), ("1,2", "0 to 11"), ("11", "the nearest that holds one is")] {
        let message = said(&eval(&["--cell", cell]));
        assert!(message.contains(hint), "{cell}: {message}");
    }
    let made = succeed(&["demos", "make", text(&path), "-n", "2", "--max-cells", "100", "--min-return", "0"]);
    assert!(made.contains("2 episodes") && made.contains("mean actions"), "{made}");
    let lines: Vec<&str> = made.lines().collect();
    let head = lines.iter().position(|line| line.contains("fresh mean")).unwrap();
    for row in &lines[head + 1..head + 3] {
        assert!(row.contains(" ± ") && row.ends_with(" of 10"), "{row}");
    }
}
