//! Folders of runs as `magpie train` leaves them, with numbers made up.
#![allow(dead_code)] // Each test binary uses its own part of this module.

use std::path::{Path, PathBuf};

use magpie_demos::{About as Origin, Columns, Demonstrations, Demonstrator, Episode, Sizes, bundled};
use magpie_learn::Actions;
use magpie_nn::Shape;
use magpie_qd::{Acceptance, ArchivePair, Candidate, Evidence, Provenance};
use magpie_random::Stream;
use magpie_rewards::ModelName;
use magpie_run::train::{Budget, Config};
use magpie_run::{About, Metrics, Reevaluation, load_outline, save_archive};
use magpie_settings::Method;

/// A run to be made up.
#[derive(Clone)]
pub struct Sketch {
    pub task: &'static str,
    pub measure: &'static str,
    pub model: ModelName,
    pub curiosity: f64,
    pub seed: u64,
    /// Iterations planned and made.
    pub iterations: [u64; 2],
    /// Share of the cells that are filled in the end.
    pub coverage: f64,
    /// Mean return in the end.
    pub level: f64,
    pub branches: u32,
    pub method: Method,
    pub demos: Demos,
    /// What else is other about it.
    pub change: fn(&mut Config),
}

/// What the reward is learned from.
#[derive(Clone, Copy, PartialEq)]
pub enum Demos {
    /// Those that come with magpie.
    Bundled,
    /// Four that are made up.
    Own,
}

impl Default for Sketch {
    fn default() -> Sketch {
        Sketch {
            task: "walker2d",
            measure: "feet_contact",
            model: ModelName::Gail,
            curiosity: 0.0,
            seed: 1,
            iterations: [150, 150],
            coverage: 0.6,
            level: 1400.0,
            branches: 30,
            method: Method::Paper,
            demos: Demos::Bundled,
            change: |_| {},
        }
    }
}

const COLUMNS: [&str; 8] =
    ["iteration", "qd_score", "qd_score_offset", "coverage", "best", "mean", "env_steps", "seconds"];

impl Sketch {
    /// Writes the run into a folder.
    pub fn write(&self, folder: &Path) -> PathBuf {
        std::fs::create_dir_all(folder).unwrap();
        let mut config =
            Config::new(self.task, self.measure, self.model, self.method, Budget::Quick).unwrap();
        (config.seed, config.iterations) = (self.seed, self.iterations[0]);
        config.search.curiosity.weight = self.curiosity;
        config.search.branches = self.branches as _;
        (self.change)(&mut config);
        let env = config.world.environment(self.task, Some(self.measure)).unwrap();
        let (names, ranges): (Vec<String>, Vec<[f64; 2]>) =
            env.measure_dimensions().into_iter().map(|d| (d.name, d.range)).unzip();
        if self.model != ModelName::True {
            config.demos.file = Some("demonstrations.safetensors".into());
            let demonstrations = match self.demos {
                Demos::Bundled => Demonstrations::from_bytes(bundled(self.task).unwrap()).unwrap(),
                Demos::Own => self.demonstrations(names.len()),
            };
            demonstrations.save(&folder.join("demonstrations.safetensors")).unwrap();
        }
        let grid = config.search.grid(&env).unwrap();
        let mut archives = ArchivePair::new(grid.clone(), Acceptance::Elitist, 3, 3).unwrap();
        let mut draws = Stream::new(self.seed, "made up").draws(self.level as u32, 0);
        for cell in 0..grid.count() {
            let measures = grid.centre(cell).unwrap();
            let share = |j: usize| (measures[j] - grid.lower()[j]) / (grid.upper()[j] - grid.lower()[j]);
            let place = (0..names.len()).map(share).sum::<f64>() / names.len() as f64;
            if f64::from(draws.uniform(0.0, 1.0)) > self.coverage * (1.6 - 1.2 * place) {
                continue;
            }
            let objective = self.level * (0.4 + 1.2 * place) + 60.0 * f64::from(draws.normal());
            let candidate = Candidate {
                solution: &[0.0; 3],
                extra: &[0.0, 1.0, 1.0],
                objective,
                measures: &measures,
                length: 800.0,
                evidence: Evidence::ONE,
                provenance: Provenance { iteration: 1, branch: None },
            };
            archives.add(&[candidate]).unwrap();
        }
        let about = About {
            task: self.task.to_owned(),
            measure: self.measure.to_owned(),
            names,
            ranges,
            cells: grid.into(),
            actor: Shape::tanh(&[1, 1]).unwrap(),
            actions: Actions::Sampled,
            world: config.world.clone(),
            qd_offset: config.search.archive.qd_offset,
            iteration: self.iterations[1],
        };
        save_archive(&folder.join("archive.safetensors"), &archives, &about).unwrap();
        self.metrics(folder);
        std::fs::write(folder.join("config.toml"), toml::to_string_pretty(&config).unwrap()).unwrap();
        folder.to_owned()
    }

    fn metrics(&self, folder: &Path) {
        let last = load_outline(&folder.join("archive.safetensors")).unwrap().metrics();
        let mut table = Metrics::create(&folder.join("metrics.csv"), &COLUMNS).unwrap();
        // Seeds differ in speed.
        let pace = 9.0 + self.seed as f64;
        for i in 1..=self.iterations[1] {
            let grown = 1.0 - (-4.0 * i as f64 / self.iterations[0] as f64).exp();
            let grown = grown / (1.0 - (-4.0 * self.iterations[1] as f64 / self.iterations[0] as f64).exp());
            let of = |value: Option<f64>| value.map_or(f64::NAN, |v| v * grown.sqrt());
            let i = i as f64;
            let scores = [last.qd_score * grown, last.qd_score_offset * grown, last.coverage * grown.sqrt()];
            let row =
                [i, scores[0], scores[1], scores[2], of(last.best), of(last.mean), i * 820_000.0, i * pace];
            table.append(&row).unwrap();
        }
    }

    fn demonstrations(&self, dims: usize) -> Demonstrations {
        let range = if self.measure == "jump" { 0.25 } else { 1.0 };
        let episode = |i: usize| Episode {
            length: 2,
            terminated: false,
            true_return: Some(1000.0 + 100.0 * i as f64),
            measures: Vec::new(),
            demonstrator: Some(Demonstrator {
                objective: 0.0,
                measures: (0..dims).map(|j| range * (0.2 + 0.2 * ((i + j) % 4) as f64)).collect(),
            }),
        };
        let about = Origin {
            task: self.task.to_owned(),
            measure: self.measure.to_owned(),
            horizon: 1000,
            ..Origin::default()
        };
        Demonstrations::new(Columns {
            about,
            sizes: Sizes { observation: 1, action: 1 },
            episodes: (0..4).map(episode).collect(),
            observations: vec![0.5; 8],
            actions: vec![0.5; 8],
            final_observations: Vec::new(),
            next_observations: Vec::new(),
            rewards: Vec::new(),
            measures: Vec::new(),
        })
        .unwrap()
    }
}

/// Runs the elites of a run again: they reach nine tenths.
pub fn reevaluated(folder: &Path) {
    reevaluated_by(folder, 10);
}

/// The same with this many episodes.
pub fn reevaluated_by(folder: &Path, episodes: u32) {
    let archive = load_outline(&folder.join("archive.safetensors")).unwrap();
    let mut metrics = archive.metrics();
    metrics.qd_score *= 0.9;
    let fingerprint = archive.fingerprint();
    let result =
        Reevaluation { archive: fingerprint, iteration: archive.about.iteration, episodes, seed: 0, metrics };
    result.save(folder).unwrap();
}

/// A sweep with everything in it: two models with and without curiosity on three kinds of archive, and every trouble.
pub fn sweep(folder: &Path) {
    for (task, measure) in [("walker2d", "feet_contact"), ("hopper", "jump"), ("ant", "feet_contact")] {
        for (model, curiosity, coverage, level) in [
            (ModelName::True, 0.0, 0.5, 1900.0),
            (ModelName::Gail, 0.0, 0.45, 1250.0),
            (ModelName::Gail, 2.0, 0.62, 1380.0),
            (ModelName::Vail, 0.0, 0.48, 1300.0),
            (ModelName::Vail, 2.0, 0.66, 1420.0),
        ] {
            for seed in 1..=3 {
                let level = level + 40.0 * seed as f64;
                let sketch =
                    Sketch { task, measure, model, curiosity, seed, coverage, level, ..Sketch::default() };
                let run = sketch.write(&folder.join(format!("{task}-{}-{curiosity}-{seed}", model.name())));
                if seed < 3 && task == "walker2d" {
                    reevaluated(&run);
                }
            }
        }
    }
    // Still running, damaged, missing, and no search at all.
    let running = Sketch { seed: 2, iterations: [150, 60], level: 900.0, ..Sketch::default() };
    running.write(&folder.join("walker2d-gail-0-2"));
    std::fs::write(folder.join("walker2d-vail-0-3/archive.safetensors"), b"junk").unwrap();
    std::fs::remove_dir_all(folder.join("hopper-gail-2-3")).unwrap();
    std::fs::write(folder.join("hopper-vail-2-1/config.toml"), "= =").unwrap();
    std::fs::create_dir_all(folder.join("one-policy")).unwrap();
    std::fs::write(folder.join("one-policy/config.toml"), "task = \"hopper\"\n[train]\n").unwrap();
}
