//! The cost of reward models, and the accuracy that DiffAIL loses with cheaper rewards.
//!
//! ```sh
//! cargo run --release -p magpie-rewards --example reward_costs
//! ```
//!
//! Prints, for the sizes of walker2d and humanoid, CPU milliseconds of one thread (best of several): the rewards of
//! 10,000 transitions, and one update with 200 expert rows. GAIL's reward is the reference. Then, for DiffAIL after
//! some updates: the cost of fewer diffusion steps and of shared noise, and Spearman's rank correlation of the rewards
//! with their expectation: the mean over all diffusion steps and eight draws of noise. The first line of each form,
//! with all diffusion steps and separate noise, is the paper's; its accuracy is limited by its single draw.

use std::ops::ControlFlow;
use std::time::Duration;

use cpu_time::ThreadTime;
use magpie_nn::normaliser::RunningMeanStd;
use magpie_random::Stream;
use magpie_rewards::diffail::{Average, Noise, Reduction};
use magpie_rewards::{ModelName, RewardConfig, RewardModel, Sizes, Transitions, build};

const ROWS: usize = 10_000;
const EXPERT_ROWS: usize = 200;
const UPDATES: u64 = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // One thread, so that its CPU time measures the work.
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    for (task, observation, action) in [("walker2d", 17, 6), ("humanoid", 227, 17)] {
        let sizes = Sizes { observation, action };
        let (expert, policy) = (Data::new(sizes, EXPERT_ROWS, true), Data::new(sizes, ROWS, false));
        println!("\n{task} ({observation} observations, {action} actions)");
        println!("{:<10} {:>16} {:>12} {:>12}", "model", "ms / 10k rewards", "x GAIL", "ms / update");
        let mut gail = None;
        for model in ModelName::ALL.into_iter().filter(|&model| model != ModelName::True) {
            let mut config = RewardConfig { model, ..RewardConfig::default() };
            config.giril.epochs = 20;
            let mut model = prepared(&config, sizes, &expert)?;
            let (_, reward) = rewards(&*model, &policy)?;
            let update = best(5, || learn(&mut *model, &expert, &policy, 1))?;
            let gail = *gail.get_or_insert(reward);
            println!("{:<10} {:>16.2} {:>12.2} {:>12.2}", config.model.name(), reward, reward / gail, update);
        }
        let config = RewardConfig { model: ModelName::Giril, ..RewardConfig::default() };
        let epochs = 20;
        let mut short = config.clone();
        short.giril.epochs = epochs;
        let seconds = best(3, || prepared(&short, sizes, &expert).map(drop))? / 1000.0;
        let total = seconds / epochs as f64 * config.giril.epochs as f64;
        println!("giril prepares in {total:.0} s ({} epochs of {EXPERT_ROWS} rows)", config.giril.epochs);
        diffail(sizes, &expert, &policy)?;
    }
    Ok(())
}

/// Costs and rank correlations of DiffAIL's rewards.
fn diffail(sizes: Sizes, expert: &Data, policy: &Data) -> Outcome<()> {
    println!("\nDiffAIL's reward after {UPDATES} updates");
    let columns = ["form", "noise", "timesteps", "ms / 10k rewards", "Spearman"];
    println!("{:<36} {:<8} {:>9} {:>16} {:>9}", columns[0], columns[1], columns[2], columns[3], columns[4]);
    for (error, average) in [
        (Reduction::Sum, Average::MeanOfLogs),
        (Reduction::Mean, Average::MeanOfLogs),
        (Reduction::Mean, Average::LogOfMeanOverEntries),
    ] {
        let mut config = RewardConfig { model: ModelName::Diffail, ..RewardConfig::default() };
        (config.diffail.error, config.diffail.average) = (error, average);
        let mut trained = prepared(&config, sizes, expert)?;
        learn(&mut *trained, expert, policy, UPDATES)?;
        let record = trained.save()?;
        let mut reference = None;
        for noise in [Noise::Own, Noise::Shared] {
            for timesteps in [100, 50, 20, 10, 5] {
                config.diffail.reward_noise = noise;
                config.diffail.reward_timesteps = timesteps;
                let mut model = prepared(&config, sizes, expert)?;
                model.restore(&record)?;
                let reference = match &mut reference {
                    Some(reference) => reference,
                    none => none.insert(expectation(&*model, sizes, policy)?),
                };
                let (values, cost) = rewards(&*model, policy)?;
                let values: Vec<f64> = values.iter().map(|&value| value.into()).collect();
                let agreement = spearman(reference, &values)
                    .map_or("all equal".to_owned(), |correlation| format!("{correlation:.4}"));
                let form = format!("{error:?}, {average:?}");
                let noise = format!("{noise:?}");
                println!("{form:<36} {noise:<8} {timesteps:>9} {cost:>16.1} {agreement:>9}");
            }
        }
    }
    Ok(())
}

/// Mean rewards over eight draws of noise. A row's own noise depends on its position, so shifting rows draws it anew.
fn expectation(model: &dyn RewardModel, sizes: Sizes, policy: &Data) -> Outcome<Vec<f64>> {
    let mut sums = vec![0.0; ROWS];
    for shift in 1..=8 {
        let mut moved = Data::new(sizes, 0, false);
        for row in (0..ROWS).map(|row| (row + shift) % ROWS) {
            moved
                .observations
                .extend_from_slice(&policy.observations[row * sizes.observation..][..sizes.observation]);
            moved.actions.extend_from_slice(&policy.actions[row * sizes.action..][..sizes.action]);
        }
        let normaliser = RunningMeanStd::new(sizes.observation).freeze(10.0);
        let mut out = vec![0.0; ROWS];
        model.reward(&moved.transitions(), &normaliser, &mut out)?;
        for (row, reward) in out.iter().enumerate() {
            sums[(row + shift) % ROWS] += f64::from(*reward) / 8.0;
        }
    }
    Ok(sums)
}

/// For the expert, a gait with some noise; for the policy, gaits that deviate more and more.
struct Data {
    observations: Vec<f32>,
    actions: Vec<f32>,
    next_observations: Vec<f32>,
    terminated: Vec<bool>,
    log_probs: Vec<f32>,
}

impl Data {
    fn new(sizes: Sizes, rows: usize, expert: bool) -> Data {
        let mut draws = Stream::new(1, "costs").draws(u32::from(expert), 0);
        let (mut observations, mut actions, mut next_observations) = (vec![], vec![], vec![]);
        for row in 0..rows {
            let phase = draws.uniform(0.0, std::f32::consts::TAU);
            let off = if expert { 0.05 } else { 0.05 + 1.5 * row as f32 / rows as f32 };
            let mut gait = |phase: f32, width: usize| -> Vec<f32> {
                (0..width).map(|i| (phase + i as f32).sin() + off * draws.normal()).collect()
            };
            observations.extend(gait(phase, sizes.observation));
            actions.extend(gait(phase, sizes.action).iter().map(|a| a.clamp(-1.0, 1.0)));
            next_observations.extend(gait(phase + 0.1, sizes.observation));
        }
        let (terminated, log_probs) = (vec![false; rows], vec![-1.0; rows]);
        Data { observations, actions, next_observations, terminated, log_probs }
    }

    fn transitions(&self) -> Transitions<'_> {
        Transitions {
            observations: &self.observations,
            actions: &self.actions,
            next_observations: &self.next_observations,
            terminated: &self.terminated,
            log_probs: &self.log_probs,
            ..Transitions::default()
        }
    }
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn prepared(config: &RewardConfig, sizes: Sizes, expert: &Data) -> Outcome<Box<dyn RewardModel>> {
    let mut draws = Stream::new(1, "first parameters").draws(0, 0);
    let mut model = build(config, sizes, 0.99, &mut draws)?;
    model.prepare(&expert.transitions(), &mut draws, &mut |_| ControlFlow::Continue(()))?;
    Ok(model)
}

fn learn(model: &mut dyn RewardModel, expert: &Data, policy: &Data, updates: u64) -> Outcome<()> {
    let normaliser = RunningMeanStd::new(expert.observations.len() / expert.terminated.len()).freeze(10.0);
    for when in 0..updates {
        let mut draws = Stream::new(1, "update").draws(0, when);
        model.update(&expert.transitions(), &policy.transitions(), &normaliser, &mut draws)?;
    }
    Ok(())
}

fn rewards(model: &dyn RewardModel, policy: &Data) -> Outcome<(Vec<f32>, f64)> {
    let normaliser = RunningMeanStd::new(policy.observations.len() / policy.terminated.len()).freeze(10.0);
    let mut out = vec![0.0; policy.terminated.len()];
    let cost = best(3, || Ok(model.reward(&policy.transitions(), &normaliser, &mut out)?))?;
    Ok((out, cost))
}

/// CPU milliseconds of the fastest of `tries` runs.
fn best(tries: usize, mut work: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut fastest = Duration::MAX;
    for _ in 0..tries {
        let start = ThreadTime::now();
        work()?;
        fastest = fastest.min(start.elapsed());
    }
    Ok(fastest.as_secs_f64() * 1e3)
}

/// Rank correlation; equal values share a rank. `None` if all values are equal.
fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let ranks = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
        let mut ranks = vec![0.0; values.len()];
        let mut first = 0;
        for tied in order.chunk_by(|&i, &j| values[i] == values[j]) {
            let middle = first as f64 + (tied.len() as f64 - 1.0) / 2.0;
            tied.iter().for_each(|&i| ranks[i] = middle - (values.len() as f64 - 1.0) / 2.0);
            first += tied.len();
        }
        ranks
    };
    let (a, b) = (ranks(a), ranks(b));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
}
