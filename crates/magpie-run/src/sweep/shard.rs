//! The part of a sweep that one machine executes.

use std::fmt;
use std::str::FromStr;

/// Part `number` of `of`; numbers begin with 1.
///
/// ```
/// use magpie_run::sweep::Shard;
///
/// let shard: Shard = "2/4".parse()?;
/// assert_eq!((shard.number, shard.of), (2, 4));
/// assert!("0/4".parse::<Shard>().is_err() && "5/4".parse::<Shard>().is_err());
/// # Ok::<(), magpie_run::sweep::WrongShard>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    pub number: usize,
    /// The number of shards.
    pub of: usize,
}

/// How a process learns which shard is its own.
///
/// ```
/// use magpie_run::sweep::ShardChoice;
///
/// let choice: ShardChoice = "auto".parse()?;
/// let array = |name: &str| match name {
///     "SLURM_ARRAY_TASK_ID" => Some("7".to_owned()),
///     "SLURM_ARRAY_TASK_MIN" => Some("4".to_owned()),
///     "SLURM_ARRAY_TASK_MAX" => Some("8".to_owned()),
///     "SLURM_ARRAY_TASK_COUNT" => Some("5".to_owned()),
///     _ => None,
/// };
/// assert_eq!(choice.shard(array).unwrap().to_string(), "4/5");
/// # Ok::<(), magpie_run::sweep::WrongShard>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardChoice {
    /// It is told.
    Is(Shard),
    /// The job array that it belongs to says so: a SLURM job array its number and their count, an Indexed Job of Kubernetes its
    /// number alone, so that the count has to be given.
    Auto {
        /// The number of shards, if it is given.
        of: Option<usize>,
    },
}

/// No job array has more jobs.
const MOST_SHARDS: usize = 1_000_000;

/// An invalid shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "write it as NUMBER/COUNT with a number from 1 to COUNT: 1/4, 2/4, 3/4 and 4/4 make four shards; or as auto, or auto/COUNT, \
     in a job array of SLURM or Kubernetes"
)]
pub struct WrongShard;

/// The environment does not tell the shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("shard auto: {0}")]
pub struct NoShard(String);

const SLURM: &str = "SLURM_ARRAY_TASK_ID";
const KUBERNETES: &str = "JOB_COMPLETION_INDEX";

impl FromStr for ShardChoice {
    type Err = WrongShard;

    fn from_str(text: &str) -> Result<ShardChoice, WrongShard> {
        match text.split_once('/') {
            None if text == "auto" => Ok(ShardChoice::Auto { of: None }),
            Some(("auto", of)) => {
                let last: Shard = format!("{of}/{of}").parse()?;
                Ok(ShardChoice::Auto { of: Some(last.of) })
            }
            _ => text.parse().map(ShardChoice::Is),
        }
    }
}

impl ShardChoice {
    /// The shard, with the variables of the environment that a job array sets.
    pub fn shard(self, variable: impl Fn(&str) -> Option<String>) -> Result<Shard, NoShard> {
        let of = match self {
            ShardChoice::Is(shard) => return Ok(shard),
            ShardChoice::Auto { of } => of,
        };
        let number = |name: &str| match variable(name) {
            None => Ok(None),
            Some(text) => match text.trim().parse::<usize>() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(NoShard(format!("{name} is {text:?}, which is no number"))),
            },
        };
        match (number(SLURM)?, number(KUBERNETES)?) {
            (Some(_), Some(_)) => Err(NoShard(format!(
                "both {SLURM} and {KUBERNETES} are set, so that it is not clear which array is meant; unset one, or say which \
                 shard this is: NUMBER/COUNT"
            ))),
            (Some(id), None) => of_slurm(id, of, number),
            (None, Some(index)) => match of {
                None => Err(NoShard(format!(
                    "{KUBERNETES} is {index}, but Kubernetes does not say how many there are; write auto/COUNT with the number \
                     of completions of the job"
                ))),
                Some(of) if index < of => Ok(Shard { number: index + 1, of }),
                Some(of) => Err(NoShard(format!(
                    "{KUBERNETES} is {index}, but of {of} shards the last one has 0-based index {}; COUNT must be the number \
                     of completions of the job",
                    of - 1
                ))),
            },
            (None, None) => Err(NoShard(format!(
                "this process is in no job array: neither {SLURM} (SLURM) nor {KUBERNETES} (Kubernetes) is set; say which \
                 shard this is: NUMBER/COUNT"
            ))),
        }
    }
}

/// With a count, the array is numbered from 1, whichever of its tasks are made. Without, all of its tasks are made, and their
/// number and places are those that SLURM says.
fn of_slurm(
    id: usize,
    of: Option<usize>,
    number: impl Fn(&str) -> Result<Option<usize>, NoShard>,
) -> Result<Shard, NoShard> {
    if let Some(of) = of {
        return match (1..=of).contains(&id) {
            true => Ok(Shard { number: id, of }),
            false => {
                Err(NoShard(format!("{SLURM} is {id}, but must be from 1 to {of}; number the array 1-{of}")))
            }
        };
    }
    let known = |name: &str| {
        number(name)?.ok_or_else(|| {
            NoShard(format!("{SLURM} is set, but {name} is not; write auto/COUNT with the number of tasks"))
        })
    };
    let (count, min, max) =
        (known("SLURM_ARRAY_TASK_COUNT")?, known("SLURM_ARRAY_TASK_MIN")?, known("SLURM_ARRAY_TASK_MAX")?);
    // SLURM sets a step of 1 for lists such as 3,7: the ends tell whether the numbers are evenly spaced.
    let gaps = count.saturating_sub(1);
    let step = max.saturating_sub(min).checked_div(gaps).unwrap_or(1);
    let even = (1..=MOST_SHARDS).contains(&count)
        && step > 0
        && min.checked_add(gaps * step) == Some(max)
        && (min..=max).contains(&id)
        && (id - min).is_multiple_of(step);
    match even {
        true => Ok(Shard { number: (id - min) / step + 1, of: count }),
        false => Err(NoShard(format!(
            "the array has {count} tasks from {min} to {max}, which are not evenly spaced; if they are some of an array of \
             1-COUNT, write auto/COUNT"
        ))),
    }
}

impl Default for Shard {
    /// The whole sweep.
    fn default() -> Shard {
        Shard { number: 1, of: 1 }
    }
}

impl FromStr for Shard {
    type Err = WrongShard;

    fn from_str(text: &str) -> Result<Shard, WrongShard> {
        let (number, of) = text.split_once('/').ok_or(WrongShard)?;
        let whole = |text: &str| text.parse::<usize>().map_err(|_| WrongShard);
        let shard = Shard { number: whole(number)?, of: whole(of)? };
        match (1..=shard.of).contains(&shard.number) && shard.of <= MOST_SHARDS {
            true => Ok(shard),
            false => Err(WrongShard),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Returns the number of each run's shard, from 1, given the runs' costs. The most expensive runs are assigned first,
/// each to the shard with the lowest total, so that totals differ by at most one run and runs of equal cost are dealt
/// in turn.
pub fn divide(costs: &[u64], shards: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|&run| std::cmp::Reverse(costs[run]));
    // Additional shards beyond one per run stay empty.
    let mut loads = vec![(0_u128, 0_usize); shards.min(costs.len())];
    let mut division = vec![1; costs.len()];
    for run in order {
        let least = (0..loads.len()).min_by_key(|&shard| loads[shard]).unwrap_or(0);
        if let Some((cost, runs)) = loads.get_mut(least) {
            *cost += u128::from(costs[run]);
            *runs += 1;
        }
        division[run] = least + 1;
    }
    division
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_counted_from_one() {
        for text in
            ["0/4", "5/4", "1/0", "0/0", "-1/4", "1", "1/", "/4", "1/4/4", "a/b", "1.0/4", "1/1000001"]
        {
            assert_eq!(text.parse::<Shard>(), Err(WrongShard), "{text}");
        }
        for text in ["1/1", "1/4", "4/4"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_job_array_tells_the_shard_or_the_error_says_what_is_missing() {
        let of = |choice: &str, set: &[(&str, &str)]| {
            let variable =
                |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            let shard = choice.parse::<ShardChoice>().unwrap().shard(variable);
            shard.map_or_else(|e| e.to_string(), |shard| shard.to_string())
        };
        let slurm = |id, min, max, count| {
            [
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_MAX", max),
                ("SLURM_ARRAY_TASK_COUNT", count),
            ]
        };
        let index = |text| [("JOB_COMPLETION_INDEX", text)];
        for (choice, set, expected) in [
            ("2/4", &slurm("1", "1", "3", "3")[..], "2/4"),
            ("auto", &slurm("1", "1", "3", "3"), "1/3"),
            ("auto", &slurm("0", "0", "3", "4"), "1/4"),
            ("auto", &slurm("11", "3", "15", "4"), "3/4"),
            ("auto", &slurm("5", "5", "5", "1"), "1/1"),
            ("auto/12", &slurm("7", "3", "7", "2"), "7/12"),
            ("auto/8", &index("0"), "1/8"),
            ("auto/8", &index("7"), "8/8"),
        ] {
            assert_eq!(of(choice, set), expected, "{choice} {set:?}");
        }
        for (choice, set, problem) in [
            ("auto", &[][..], "in no job array: neither SLURM_ARRAY_TASK_ID"),
            ("auto/4", &[], "in no job array"),
            ("auto", &index("2"), "write auto/COUNT with the number of completions"),
            ("auto/2", &index("2"), "the last one has 0-based index 1"),
            ("auto/2", &index("x"), "JOB_COMPLETION_INDEX is \"x\", which is no number"),
            ("auto", &slurm("3", "3", "8", "3"), "not evenly spaced"),
            ("auto", &slurm("3", "3", "3", "2"), "not evenly spaced"),
            ("auto", &slurm("9", "1", "3", "3"), "not evenly spaced"),
            ("auto", &slurm("-1", "1", "3", "3"), "which is no number"),
            ("auto", &slurm("3", "1", "3", "3")[..3], "SLURM_ARRAY_TASK_COUNT is not"),
            ("auto/12", &slurm("0", "0", "11", "12"), "must be from 1 to 12; number the array 1-12"),
            ("auto/9", &[("SLURM_ARRAY_TASK_ID", "1"), index("1")[0]], "both SLURM_ARRAY_TASK_ID and"),
        ] {
            let error = of(choice, set);
            assert!(error.contains(problem), "{choice} {set:?}: {error}");
        }
        for text in ["auto/", "auto/0", "auto/x", "Auto", "automatic", "auto/1000001"] {
            assert_eq!(text.parse::<ShardChoice>(), Err(WrongShard), "{text}");
        }
    }

    #[test]
    fn runs_of_equal_cost_are_dealt_round() {
        assert_eq!(divide(&[7; 8], 3), [1, 2, 3, 1, 2, 3, 1, 2]);
        assert_eq!(divide(&[0; 5], 2), [1, 2, 1, 2, 1]);
        assert_eq!(divide(&[7, 7], 5), [1, 2]);
        assert_eq!(divide(&[], 5), [0; 0]);
    }

    #[test]
    fn one_long_run_weighs_as_much_as_many_short_ones() {
        assert_eq!(divide(&[1, 1, 10, 1, 1, 6], 2), [2, 2, 1, 2, 2, 2]);
    }

    #[test]
    fn no_shard_has_more_to_do_than_another_by_more_than_one_run() {
        let costs: Vec<u64> = (0..97).map(|run| [100, 2000, 150][run % 3] + run as u64).collect();
        for shards in 1..=20 {
            let division = divide(&costs, shards);
            assert_eq!(division, divide(&costs, shards));
            let mut loads = vec![0; shards];
            division.iter().zip(&costs).for_each(|(&shard, cost)| loads[shard - 1] += cost);
            let (most, least) = (loads.iter().max().unwrap(), loads.iter().min().unwrap());
            assert!(most - least <= *costs.iter().max().unwrap(), "{shards}: {loads:?}");
        }
    }
}
