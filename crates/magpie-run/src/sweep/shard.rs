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

/// No job array has more jobs.
const MOST_SHARDS: usize = 1_000_000;

/// An invalid shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "write it as NUMBER/COUNT with a number from 1 to COUNT: 1/4, 2/4, 3/4 and 4/4 make four shards; the matching job array is \
     1-4"
)]
pub struct WrongShard;

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
