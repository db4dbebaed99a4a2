//! Demonstrations as the paper's appendix shows them: statistics of their lengths and returns, and where they lie in the
//! space of behaviour among the elites of an archive and the best of these.

use magpie_demos::{Demonstrations, Episode};
use magpie_envs::{Environment, Options};
use magpie_plot::{Crowd, Dimension, Figure, Mark, NARROW, Scatter, WIDE, scatter};
use magpie_run::{ArchiveOutline, RunError, count};

use crate::error::ReportError;
use crate::statistics::summary::{mean, std};

/// Elites among which the paper chooses demonstrators.
pub const BEST_ELITES: usize = 500;

/// Least, most, mean and standard deviation. The deviation has the divisor n, as the paper's has: no other gives its numbers
/// for walker2d. It describes these episodes, and none that they would stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub std: f64,
}

impl Spread {
    /// Of these numbers; `None` if there are none.
    pub fn of(numbers: &[f64]) -> Option<Spread> {
        Some(Spread {
            min: numbers.iter().copied().reduce(f64::min)?,
            max: numbers.iter().copied().reduce(f64::max)?,
            mean: mean(numbers)?,
            std: std(numbers, 0)?,
        })
    }
}

/// What episodes are like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many there are.
    pub episodes: usize,
    /// Their steps.
    pub length: Spread,
    /// Their returns, if all are known.
    pub returns: Option<Spread>,
}

impl Summary {
    /// Of these episodes; `None` if there are none.
    pub fn of(episodes: &[Episode]) -> Option<Summary> {
        let lengths: Vec<f64> = episodes.iter().map(|episode| episode.length as f64).collect();
        let returns: Option<Vec<f64>> = episodes.iter().map(|episode| episode.true_return).collect();
        Some(Summary {
            episodes: episodes.len(),
            length: Spread::of(&lengths)?,
            returns: returns.and_then(|returns| Spread::of(&returns)),
        })
    }
}

/// Where demonstrations lie in the space of behaviour.
#[derive(Debug, Clone, Copy)]
pub struct BehaviourSpace<'a> {
    /// The title.
    pub title: &'a str,
    /// A line below it, such as whose elites they are.
    pub subtitle: &'a str,
    /// The dimensions of the measure.
    pub dimensions: &'a [Dimension],
    /// A row of measures for each demonstration.
    pub places: &'a [Vec<f64>],
    /// The return of each, which is the second axis where there is only one measure.
    pub returns: &'a [f64],
    /// The archive whose elites lie below.
    pub archive: Option<&'a ArchiveOutline>,
}

impl BehaviourSpace<'_> {
    /// Draws all elites, the best of them, and the demonstrations over both.
    pub fn draw(&self) -> Result<Figure, ReportError> {
        let one = self.dimensions.len() == 1;
        let row = |measures: &[f64], value: f64| {
            let value = one.then_some(value);
            measures.iter().copied().chain(value).collect::<Vec<f64>>()
        };
        let mut elites: Vec<(f64, Vec<f64>)> = self
            .archive
            .iter()
            .flat_map(|archive| &archive.elites)
            .map(|e| (e.objective, row(&e.measures, e.objective)))
            .collect();
        elites.sort_by(|a, b| b.0.total_cmp(&a.0));
        let elites: Vec<Vec<f64>> = elites.into_iter().map(|(_, row)| row).collect();
        let returns = self.returns.iter().copied().chain(std::iter::repeat(0.0));
        let places: Vec<Vec<f64>> =
            self.places.iter().zip(returns).map(|(measures, value)| row(measures, value)).collect();
        let mut dimensions = self.dimensions.to_vec();
        if one {
            let shown = || elites.iter().chain(&places).filter_map(|row| row.last().copied());
            let range = [shown().fold(0.0, f64::min), shown().fold(0.0, f64::max)];
            let range = if range[0] < range[1] { range } else { [0.0, 1.0] };
            dimensions.push(Dimension { name: "return".to_owned(), range });
        }
        let best = &elites[..elites.len().min(BEST_ELITES)];
        let (all, chosen, shown) = (
            count(elites.len(), "elite"),
            format!("the best {}", best.len()),
            count(places.len(), "demonstration"),
        );
        let crowds = [
            Crowd { name: &all, at: &elites, mark: Mark::Everything },
            Crowd { name: &chosen, at: best, mark: Mark::Chosen },
            Crowd { name: &shown, at: &places, mark: Mark::Highlighted },
        ];
        let crowds: Vec<Crowd<'_>> = crowds
            .into_iter()
            // Where all are among the best, one crowd says it.
            .filter(|crowd| {
                !(crowd.at.is_empty() || crowd.mark == Mark::Chosen && best.len() == elites.len())
            })
            .collect();
        let (title, subtitle) = (self.title, self.subtitle);
        let width = if dimensions.len() > 2 { WIDE } else { NARROW };
        Ok(scatter(&Scatter { title, subtitle, dimensions: &dimensions, crowds: &crowds, width })?)
    }
}

/// The demonstrations of a file in the space of the measure that they were measured by; among the elites of an archive of the
/// same task and measure, if one is given.
pub fn behaviour_space(
    demonstrations: &Demonstrations,
    archive: Option<&ArchiveOutline>,
) -> Result<Figure, ReportError> {
    let refuse = |problem: String| Err(RunError::NoPicture { problem }.into());
    let columns = demonstrations.columns();
    let about = &columns.about;
    if about.task.is_empty() || about.measure.is_empty() {
        return refuse(
            "the file does not say of which task and measure they are; import it as one that does".to_owned(),
        );
    }
    let (names, ranges): (Vec<String>, Vec<[f64; 2]>) = match archive.map(|archive| &archive.about) {
        Some(of) if (&of.task, &of.measure) == (&about.task, &about.measure) => {
            (of.names.clone(), of.ranges.clone())
        }
        Some(of) => {
            return refuse(format!(
                "the archive is one of {}, {}, and the demonstrations are of {}, {}; name an archive of theirs",
                of.task, of.measure, about.task, about.measure
            ));
        }
        None => {
            let measure = Some(about.measure.clone());
            let env = Environment::new(&about.task, Options { measure, ..Options::default() })
                .map_err(RunError::from)?;
            env.measure_dimensions().into_iter().map(|d| (d.name, d.range)).unzip()
        }
    };
    let places: Vec<Vec<f64>> = demonstrations.places().into_iter().flatten().collect();
    if places.len() != columns.episodes.len() || places.iter().any(|place| place.len() != names.len()) {
        return refuse(format!(
            "{} of {} has {} dimensions, and not every episode has as many measures; import the file with its measures",
            about.measure,
            about.task,
            names.len()
        ));
    }
    let returns: Vec<f64> =
        columns.episodes.iter().map(|episode| episode.true_return.unwrap_or_default()).collect();
    let dimensions: Vec<Dimension> =
        names.into_iter().zip(ranges).map(|(name, range)| Dimension { name, range }).collect();
    BehaviourSpace {
        title: &format!("Demonstrations: {}, {}", about.task, about.measure.replace('_', " ")),
        subtitle: "",
        dimensions: &dimensions,
        places: &places,
        returns: &returns,
        archive,
    }
    .draw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::paper::PAPER_DEMONSTRATIONS;
    use magpie_demos::bundled;

    #[test]
    fn the_deviation_is_the_papers() {
        // Four lengths of which the paper's table says the least, the most and the mean; with a divisor of n − 1 no two
        // others give its deviation.
        let walker = PAPER_DEMONSTRATIONS.iter().find(|d| d.task == "walker2d").unwrap();
        let found = Spread::of(&[356.0, 431.0, 716.0, 1000.0]).unwrap();
        let [min, max, mean, std] = walker.length;
        assert_eq!((found.min, found.max), (min, max));
        assert!((found.mean - mean).abs() < 0.1 && (found.std - std).abs() < 0.5, "{found:?}");
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[3.0]).map(|one| one.std), Some(0.0));
    }

    #[test]
    fn a_file_is_summed_up_and_drawn_in_its_own_space() {
        let all = Demonstrations::from_bytes(bundled("walker2d").unwrap()).unwrap();
        let episodes = &all.columns().episodes;
        let summary = Summary::of(episodes).unwrap();
        assert_eq!((summary.episodes, summary.length.max), (4, 1000.0));
        let returns = summary.returns.unwrap();
        assert!(
            returns.min <= returns.mean && returns.mean <= returns.max && returns.std > 0.0,
            "{returns:?}"
        );
        let mut unknown = episodes.clone();
        unknown[2].true_return = None;
        assert_eq!(Summary::of(&unknown).unwrap().returns, None);
        assert_eq!(Summary::of(&[]), None);
        let figure = behaviour_space(&all, None).unwrap();
        // One more explains the marks.
        assert_eq!(figure.svg().matches("<circle").count(), 5);
        let mut columns = all.columns().clone();
        columns.about.measure.clear();
        let error = behaviour_space(&Demonstrations::new(columns).unwrap(), None).unwrap_err().to_string();
        assert!(error.contains("which task and measure"), "{error}");
    }
}
