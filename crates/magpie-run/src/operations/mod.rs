//! What one does with the results of a run: look at them, run them again, hand them on.
//!
//! Each operation takes typed options and gives a typed result; none prints, and those that write a file say so. An
//! archive is opened once ([`OpenArchive`], or [`open_outline`] to show it with [`archive_info`]) and is then run again ([`evaluate_archive`]), drawn
//! ([`draw_archive`]), exported ([`export_archive`]) or asked to demonstrate ([`demonstrate`]).
//! [`check`] tells whether the files of a run are what was written.

mod check;
mod demonstrate;
mod evaluate;
mod export;
mod import;
mod inspect;
mod open;
mod output;
mod past;
mod picture;
mod reevaluate;
mod replay;
mod stability;
mod typical;

pub use check::{CheckReport, CheckedFile, Finding, check};
pub use demonstrate::{
    Choice, DemonstrateOptions, Demonstrated, EliteOptions, Mismatch, Recorded, Skipped, StoredElite,
    demonstrate, demonstrate_policy,
};
pub use evaluate::{
    ArchiveEvaluation, EvaluateOptions, Kept, OtherWorld, PolicyEvaluation, Selection, VERIFIED,
    evaluate_archive, evaluate_archive_in, evaluate_policy,
};
pub use export::{ExportFormat, ExportOptions, export_archive};
pub use import::{ImportOptions, ImportedDemonstrations, import_demonstrations};
pub use inspect::{ArchiveInfo, BestElite, archive_info};
pub(crate) use open::acting;
pub use open::{OpenArchive, holds_archive, open_outline};
pub use output::may_write;
pub use past::{PastPicture, past_picture, past_pictures};
pub use picture::{ArchivePicture, draw_archive, draw_demonstrations};
pub use reevaluate::{Standing, runs_below, standing};
pub use replay::{Player, Push, ReplayOptions, Trajectory, replay};
pub use stability::{instability_of_elite, instability_of_policy, instability_of_search};
pub use typical::FreshEpisodes;

#[cfg(test)]
mod tests {
    use magpie_demos::Demonstrations;
    use magpie_learn::Actions;
    use magpie_nn::Shape;
    use magpie_qd::{Acceptance, ArchivePair, Candidate, Cells, Cvt, Evidence, Grid, Provenance};
    use magpie_random::Stream;

    use super::{DemonstrateOptions, EliteOptions, OpenArchive, demonstrate};
    use crate::archive::{About, save_archive};
    use crate::world::EnvOverrides;

    /// A grid and a tessellation of one measure.
    pub(super) const CELLS: [fn() -> Cells; 2] = [
        || Grid::new(vec![5], vec![0.0], vec![1.0]).unwrap().into(),
        || Cvt::new(vec![0.1, 0.4, 0.7, 0.95], 1).unwrap().into(),
    ];

    /// Lets elites demonstrate that do not do what their archive says of them.
    pub(super) fn demonstrations(open: &OpenArchive, number: u32) -> Demonstrations {
        let elites = EliteOptions { max_cells: f64::INFINITY, ..EliteOptions::default() };
        let options = DemonstrateOptions { number, elites, ..DemonstrateOptions::default() };
        demonstrate(open, &options).unwrap().demonstrations
    }

    /// Two elites of hopper with random actors of eight units, which act by their means; the second one is the better.
    pub(super) fn hopper(cells: Cells) -> (tempfile::TempDir, OpenArchive) {
        let actor = Shape::tanh(&[11, 8, 3]).unwrap();
        let parameters = actor.parameters() + actor.outputs();
        let mut draws = Stream::new(1, "elites").draws(0, 0);
        let mut extra = vec![0.0; 11];
        extra.extend([1.0; 12]);
        let mut archives =
            ArchivePair::new(cells.clone(), Acceptance::Elitist, parameters, extra.len()).unwrap();
        for (objective, measure) in [(1.0, 0.1), (2.0, 0.7)] {
            let solution: Vec<f32> = (0..parameters).map(|_| draws.uniform(-0.5, 0.5)).collect();
            let candidate = Candidate {
                solution: &solution,
                extra: &extra,
                objective,
                measures: &[measure],
                length: 10.0,
                evidence: Evidence::ONE,
                provenance: Provenance { iteration: 1, branch: None },
            };
            archives.add(&[candidate]).unwrap();
        }
        let about = About {
            task: "hopper".to_owned(),
            measure: "feet_contact".to_owned(),
            names: vec!["foot contact".to_owned()],
            ranges: vec![[0.0, 1.0]],
            cells,
            actor,
            actions: Actions::Mean,
            world: EnvOverrides::default(),
            qd_offset: 0.9,
            iteration: 1,
        };
        let folder = tempfile::tempdir().unwrap();
        save_archive(&folder.path().join("archive.safetensors"), &archives, &about).unwrap();
        let open = OpenArchive::open(folder.path()).unwrap();
        (folder, open)
    }
}
