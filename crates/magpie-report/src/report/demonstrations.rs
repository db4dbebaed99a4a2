//! What rewards were learned from: a table of lengths and returns, and a picture of where the demonstrations lie.

use magpie_plot::Dimension;
use magpie_rewards::ModelName;

use crate::demonstrations::{BehaviourSpace, Spread, Summary};
use crate::error::ReportError;
use crate::runs::{Learned, Method, Origin, Run, Scene};
use crate::statistics::paper::PAPER_DEMONSTRATIONS;

use super::Picture;
use super::archives::middle;
use super::sheet::{Entry, Kind, Sheet, columns};

/// The sets of demonstrations of a scene, each once, with what they are called.
fn sets(scene: &Scene) -> Vec<(String, &Learned)> {
    let mut found: Vec<(String, &Learned)> = Vec::new();
    for run in scene.methods.iter().flat_map(|method| &method.runs) {
        let Some(learned) = &run.learned else { continue };
        if !found.iter().any(|(_, other)| *other == learned) {
            found.push((name(run, learned), learned));
        }
    }
    found
}

fn name(run: &Run, learned: &Learned) -> String {
    let setting = |key: &str| run.settings.others.get(key);
    let whose = match learned.origin {
        Origin::Bundled => "those that come with magpie".to_owned(),
        Origin::Paper => "the paper’s own".to_owned(),
        Origin::Other => {
            let content = setting("demos.file").and_then(|content| content.get(..4));
            format!("own {}", content.unwrap_or_default()).trim_end().to_owned()
        }
    };
    match setting("demos.count") {
        Some(count) => format!("{whose}, the first {count}"),
        None => whose,
    }
}

/// Two rows for each set: lengths and returns, and the paper's below.
pub(super) fn sheet(scenes: &[Scene]) -> Sheet {
    let columns = columns(&[
        ("task", Kind::Text),
        ("demonstrations", Kind::Text),
        ("number", Kind::Number),
        ("attribute", Kind::Text),
        ("min", Kind::Number),
        ("max", Kind::Number),
        ("mean", Kind::Number),
        ("std", Kind::Number),
    ]);
    let mut rows = Vec::new();
    for scene in scenes {
        let mut row = |name: &str, number: usize, attribute: &str, spread: Option<Spread>| {
            let numbers = spread
                .map(|Spread { min, max, mean, std }| [min, max, mean, std].map(|v| Entry::Number(v, 1)));
            let mut row = vec![
                Entry::Text(scene.title()),
                Entry::Text(name.to_owned()),
                Entry::Number(number as f64, 0),
                Entry::Text(attribute.to_owned()),
            ];
            row.extend(numbers.unwrap_or([const { Entry::Nothing }; 4]));
            rows.push(row);
        };
        let sets = sets(scene);
        for (name, learned) in &sets {
            if let Some(Summary { episodes, length, returns }) = Summary::of(&learned.episodes) {
                row(name, episodes, "length", Some(length));
                row(name, episodes, "return", returns);
            }
        }
        let published = PAPER_DEMONSTRATIONS.iter().find(|paper| paper.task == scene.task);
        if let Some(paper) = published.filter(|_| !sets.is_empty() && scene.measure == "feet_contact") {
            for (attribute, [min, max, mean, std]) in [("length", paper.length), ("return", paper.returns)] {
                row("paper", paper.number, attribute, Some(Spread { min, max, mean, std }));
            }
        }
    }
    Sheet { slug: "demonstrations", title: "Demonstrations", columns, rows }
}

/// A picture for each set that was measured as its runs measure: among the elites found with the true reward, where the paper
/// takes its demonstrations from, if there are any; otherwise among those that learned from them.
pub(super) fn pictures(scene: &Scene) -> Result<Vec<Picture>, ReportError> {
    let mut pictures = Vec::new();
    for (name, learned) in sets(scene) {
        let uses = |method: &&Method| method.runs.iter().any(|run| run.learned.as_ref() == Some(learned));
        let expert = |method: &&Method| method.runs[0].settings.model == ModelName::True;
        let mut candidates = scene.methods.iter().filter(expert).chain(scene.methods.iter().filter(uses));
        let Some((method, run, archive)) = candidates.find_map(|method| middle(scene, method)) else {
            continue;
        };
        let about = &archive.about;
        // Two task files of one name may measure differently.
        let fits = learned.places.iter().all(|place| place.len() == about.names.len());
        if learned.places.is_empty() || !fits {
            continue;
        }
        let dimensions = about.names.iter().zip(&about.ranges);
        let dimensions: Vec<Dimension> =
            dimensions.map(|(name, &range)| Dimension { name: name.clone(), range }).collect();
        let returns: Vec<f64> =
            learned.episodes.iter().map(|episode| episode.true_return.unwrap_or_default()).collect();
        let subtitle = format!("{name}; elites of {}, seed {}", method.name, run.settings.seed);
        let figure = BehaviourSpace {
            title: &format!("Demonstrations: {}", scene.title()),
            subtitle: &subtitle,
            dimensions: &dimensions,
            places: &learned.places,
            returns: &returns,
            archive: Some(archive),
        }
        .draw()?;
        pictures.push(Picture {
            name: format!("{}-demonstrations-{name}", scene.slug()),
            alt: format!(
                "where the demonstrations ({name}) lie among the elites of {} on {}",
                method.name,
                scene.title()
            ),
            caption: None,
            figure,
        });
    }
    Ok(pictures)
}
