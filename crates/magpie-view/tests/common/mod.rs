//! Runs to look at, made in a moment.
#![allow(dead_code)] // Each test binary uses its own part of this module.

use std::path::Path;

use magpie_envs::{Environment, Options};
use magpie_learn::Actions;
use magpie_nn::Shape;
use magpie_qd::{Acceptance, ArchivePair, Candidate, Cells, Cvt, Evidence, Grid, Provenance};
use magpie_random::Stream;
use magpie_run::{About, EnvOverrides, save_archive};

/// What an archive is made of.
pub struct Made {
    pub task: &'static str,
    /// Cells along each dimension; none for a tessellation of 40 cells.
    pub grid: Vec<usize>,
    pub iteration: u64,
    pub units: usize,
    pub names: Option<Vec<String>>,
    pub world: EnvOverrides,
}

impl Made {
    pub fn of(task: &'static str, grid: &[usize]) -> Made {
        Made {
            task,
            grid: grid.to_vec(),
            iteration: 1,
            units: 8,
            names: None,
            world: EnvOverrides::default(),
        }
    }

    /// Writes an archive with an elite in three cells of four, and curves.
    pub fn write(&self, folder: &Path) {
        let env = Environment::new(self.task, Options::default()).unwrap();
        let dims = env.measure_size();
        let cells: Cells = match &self.grid[..] {
            [] => {
                let mut draws = Stream::new(5, "centroids").draws(0, 0);
                let places: Vec<f64> = (0..40 * dims).map(|_| f64::from(draws.uniform(0.0, 1.0))).collect();
                Cvt::new(places, dims).unwrap().into()
            }
            grid => Grid::new(grid.to_vec(), vec![0.0; dims], vec![1.0; dims]).unwrap().into(),
        };
        let (obs, act) = (env.observation_size(), env.action_size());
        let actor = Shape::tanh(&[obs, self.units, self.units, act]).unwrap();
        let parameters = actor.parameters() + act;
        let mut extra = vec![0.0; obs];
        extra.extend(vec![1.0; obs + 1]);
        let mut archives =
            ArchivePair::new(cells.clone(), Acceptance::Elitist, parameters, extra.len()).unwrap();
        let mut draws = Stream::new(1, "elites").draws(0, 0);
        for cell in (0..cells.count()).filter(|cell| cell % 4 != 3) {
            let solution: Vec<f32> = (0..parameters).map(|_| draws.uniform(-0.3, 0.3)).collect();
            let measures = cells.centre(cell).unwrap();
            let candidate = Candidate {
                solution: &solution,
                extra: &extra,
                objective: 100.0 + measures.iter().sum::<f64>() * 500.0 + self.iteration as f64,
                measures: &measures,
                length: 100.0,
                evidence: Evidence::ONE,
                provenance: Provenance { iteration: self.iteration, branch: None },
            };
            archives.add(&[candidate]).unwrap();
        }
        let dimensions = env.measure_dimensions();
        let about = About {
            task: self.task.to_owned(),
            measure: env.measure().to_owned(),
            names: self.names.clone().unwrap_or(dimensions.iter().map(|d| d.name.clone()).collect()),
            ranges: dimensions.iter().map(|d| d.range).collect(),
            cells,
            actor,
            actions: Actions::Mean,
            world: self.world.clone(),
            qd_offset: 0.0,
            iteration: self.iteration,
        };
        save_archive(&folder.join("archive.safetensors"), &archives, &about).unwrap();
        let rows: String =
            (1..=30).map(|i| format!("{i},{},{},0.5\n", i * 100, 1.0 / f64::from(i))).collect();
        let table = format!("iteration,qd_score,coverage,reward_expert_accuracy\n{rows}");
        std::fs::write(folder.join("metrics.csv"), table).unwrap();
        let config = format!("task = \"{}\"\niterations = 50\nseed = 7\n", self.task);
        std::fs::write(folder.join("config.toml"), config).unwrap();
    }
}
