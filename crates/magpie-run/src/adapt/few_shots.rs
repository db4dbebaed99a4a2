//! What a few simulated trials find, beside two simpler ways to spend them.
//!
//! Each way names, after every trial, the best elite that it knows of. What that elite returns over the episodes of the
//! selection is its value: no trial saw these episodes, so that none of the three is judged by what it chose by.

use magpie_random::Stream;

use super::results::{Case, FewShots};
use super::trials::{Candidate, Trial, TrialSearch, TrialSettings, best_of};
use crate::error::RunError;

/// Random orders that are averaged over.
const ORDERS: u32 = 100;

/// Tries elites in a world. `again` is the return of an elite in its nth repetition, from 1.
pub(super) fn few_shots(
    candidates: &[Candidate],
    case: &Case,
    settings: TrialSettings,
    number: u32,
    seed: u64,
    mut again: impl FnMut(usize, u64) -> f64,
) -> Result<FewShots, RunError> {
    let number = number as usize;
    let mut search = TrialSearch::new(candidates.to_vec(), settings)?;
    let (mut stopped, mut trial_and_error) = (None, Vec::new());
    for trial in 1..=number {
        let candidate = search.next();
        let earlier = search.trials().iter().filter(|trial| trial.candidate == candidate).count();
        let value = match earlier {
            0 => case.first_trials[candidate],
            n => again(candidate, n as u64),
        };
        search.record(Trial { candidate, value });
        if stopped.is_none() && search.is_finished() {
            stopped = Some(trial);
        }
        trial_and_error.push(case.returns[search.best()]);
    }
    // More trials than elites find nothing more.
    let along = |order: &[usize]| -> Vec<f64> {
        (1..=number)
            .map(|trials| {
                let tried = &order[..trials.min(order.len())];
                let best = best_of(tried.iter().map(|&elite| case.first_trials[elite]));
                case.returns[tried[best.unwrap_or_default()]]
            })
            .collect()
    };
    let mut stored: Vec<usize> = (0..candidates.len()).collect();
    stored.sort_by(|&a, &b| candidates[b].prior.total_cmp(&candidates[a].prior));
    let mut random = vec![0.0; number];
    let stream = Stream::new(seed, "random trials");
    for order in 0..ORDERS {
        let mut draws = stream.draws(order, 0);
        let mut shuffled: Vec<usize> = (0..candidates.len()).collect();
        for at in 0..number.min(shuffled.len()) {
            let other = at + draws.below((shuffled.len() - at) as u32) as usize;
            shuffled.swap(at, other);
        }
        for (sum, value) in random.iter_mut().zip(along(&shuffled)) {
            *sum += value / f64::from(ORDERS);
        }
    }
    let trials = search.trials().to_vec();
    Ok(FewShots { settings, trials, stopped, trial_and_error, random, best_stored: along(&stored) })
}

#[cfg(test)]
mod tests {
    use super::super::results::Reported;
    use super::*;

    /// The archive promises most of the left half, which is what the damage takes.
    fn world(elites: usize) -> (Vec<Candidate>, Case) {
        let place = |i: usize| i as f64 / elites as f64;
        let candidate = |i: usize| Candidate { place: vec![place(i)], prior: 1000.0 - 200.0 * place(i) };
        let returns: Vec<f64> =
            (0..elites).map(|i| if place(i) < 0.5 { 100.0 } else { 1000.0 - 200.0 * place(i) }).collect();
        let reported = Reported { elite: 0, mean: 0.0, error: 0.0 };
        let case = Case {
            at: 1.0,
            healthy: false,
            world: String::new(),
            first_trials: returns.clone(),
            returns,
            adapted: reported,
            unadapted: reported,
            oracle: reported,
            few_shots: None,
        };
        ((0..elites).map(candidate).collect(), case)
    }

    #[test]
    fn trial_and_error_leaves_what_is_broken_sooner_than_the_stored_order_does() {
        let (candidates, case) = world(200);
        let few = few_shots(&candidates, &case, TrialSettings::default(), 12, 1, |elite, _| {
            case.first_trials[elite]
        })
        .unwrap();
        assert!(few.trial_and_error[11] > 850.0, "{:?}", few.trial_and_error);
        assert_eq!(few.best_stored, [100.0; 12], "the stored order stays in the broken half");
        assert!(few.stopped.is_some_and(|trials| trials <= 12) && few.trials.len() == 12);
        assert!(few.random.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}", few.random);
    }

    #[test]
    fn an_elite_that_is_tried_again_returns_something_new() {
        let (candidates, case) = world(1);
        let mut asked = Vec::new();
        let again = |elite, number| {
            asked.push((elite, number));
            50.0
        };
        let few = few_shots(&candidates, &case, TrialSettings::default(), 3, 1, again).unwrap();
        assert_eq!(few.trials.iter().map(|trial| trial.value).collect::<Vec<_>>(), [100.0, 50.0, 50.0]);
        assert_eq!(asked, [(0, 1), (0, 2)]);
        assert_eq!(few.random.len(), 3, "more trials than elites");
    }
}
