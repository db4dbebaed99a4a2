//! Environment steps per second of full PPO iterations, task by task, and the time of their parts.
//!
//! ```text
//! cargo run --release -p magpie-learn --example ppo_speed -- [SECONDS [ENVIRONMENTS [ROLLOUT_LENGTH]]]
//! ```
//!
//! All other settings are those of `magpie ppo`. Four times are measured in turn on the same cores: *physics* steps the
//! environments with given actions; *inference* evaluates policy and critic on the same number of observations;
//! *rollout* collects a rollout, with physics, inference and bookkeeping; *update* is a full iteration without its
//! rollout. The remainder is rollout - physics - inference.

use std::sync::Arc;
use std::time::{Duration, Instant};

use magpie_envs::{Batch, CHUNK, Environment, Options, TASKS};
use magpie_learn::{Agent, Networks, StopAfter, TrainConfig, Trainer};
use magpie_nn::{Kernel, Network, Trace};
use magpie_simd::{LANES, Pack};
use rayon::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = |i: usize, otherwise: f64| std::env::args().nth(i).map_or(Ok(otherwise), |s| s.parse());
    let (seconds, environments, rollout_length) =
        (argument(1, 10.0)?, argument(2, 256.0)? as u32, argument(3, 64.0)? as usize);
    println!(
        "{} threads, {} kernel, {environments} environments, rollouts of {rollout_length} steps",
        rayon::current_num_threads(),
        Kernel::best()
    );
    println!(
        "{:12} {:>10} {:>9} {:>10} {:>8} {:>6} {:>12}",
        "task", "steps/s", "physics", "inference", "update", "rest", "minibatches"
    );
    for task in TASKS {
        let env = Arc::new(Environment::new(task, Options::default())?);
        let networks = Networks::paper(env.observation_size(), env.action_size())?;
        let mut config = TrainConfig { rollout_length, target_kl: 0.02, ..TrainConfig::default() };
        config.stop_after = StopAfter::Minibatch;
        config.ppo.adam.learning_rate = 3e-4;
        let agent = Agent::new(&networks, 0);
        let mut trainer = Trainer::new(Arc::clone(&env), 0..environments, networks.clone(), agent, config, 0);
        let mut physics = Physics::new(&env, environments, rollout_length);
        let inference = Inference::new(&networks, trainer.agent.weights.policy.as_slice());

        let mut totals = [Duration::ZERO; 4];
        let (mut rounds, mut minibatches) = (0, 0);
        let start = Instant::now();
        while start.elapsed().as_secs_f64() < seconds {
            let mut failed = None;
            totals[0] += time(|| match trainer.iterate(|_, _| {}) {
                Ok(iteration) => minibatches += iteration.update.minibatches,
                Err(error) => failed = Some(error),
            });
            if let Some(error) = failed {
                return Err(error.into());
            }
            totals[1] += time(|| trainer.observe());
            totals[2] += time(|| physics.run());
            totals[3] += time(|| inference.run(environments as usize, rollout_length));
            rounds += 1;
        }
        let [whole, collecting, physics, inference] = totals.map(|t| t.as_secs_f64());
        let share = |part: f64| 100.0 * part / whole;
        println!(
            "{:12} {:10.0} {:7.1} % {:8.1} % {:6.1} % {:4.1} % {:12.1}",
            task,
            f64::from(rounds * environments) * rollout_length as f64 / whole,
            share(physics),
            share(inference),
            share(whole - collecting),
            share(collecting - physics - inference),
            minibatches as f64 / f64::from(rounds),
        );
    }
    Ok(())
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The environments alone, stepped chunk by chunk for a full rollout, as in collecting one.
struct Physics {
    batch: Batch,
    actions: Vec<Pack>,
    rollout_length: usize,
}

impl Physics {
    fn new(env: &Arc<Environment>, environments: u32, rollout_length: usize) -> Physics {
        let mut batch = Batch::new(Arc::clone(env), 0..environments, 1);
        batch.chunks_mut().iter_mut().for_each(|chunk| chunk.reset());
        let entry = |i: usize| Pack([((i * 7) % 13) as f32 / 6.5 - 1.0; LANES]);
        let actions = (0..CHUNK / LANES * env.action_size()).map(entry).collect();
        Physics { batch, actions, rollout_length }
    }

    fn run(&mut self) {
        let (actions, rollout_length) = (&self.actions, self.rollout_length);
        self.batch.chunks_mut().par_iter_mut().for_each(|chunk| {
            let width = actions.len() / (CHUNK / LANES);
            let actions = &actions[..chunk.groups().len() * width];
            (0..rollout_length).for_each(|_| chunk.step(actions));
        });
    }
}

/// Policy and critic alone.
struct Inference {
    policy: Network,
    critic: Network,
}

impl Inference {
    fn new(networks: &Networks, parameters: &[f32]) -> Inference {
        let mut policy = Network::new(&networks.actor, Kernel::best(), false);
        let mut critic = Network::new(&networks.critic, Kernel::best(), false);
        policy.load(&parameters[..networks.actor.parameters()]);
        critic.load(&vec![0.01; networks.critic.parameters()]);
        Inference { policy, critic }
    }

    fn run(&self, environments: usize, rollout_length: usize) {
        let panels = CHUNK / LANES;
        (0..environments.div_ceil(CHUNK)).into_par_iter().for_each(|_| {
            let inputs = vec![Pack([0.1; LANES]); panels * self.policy.shape().inputs()];
            let mut traces =
                (Trace::new(self.policy.shape(), panels), Trace::new(self.critic.shape(), panels));
            for _ in 0..rollout_length {
                std::hint::black_box(self.policy.forward(&inputs, &mut traces.0));
                std::hint::black_box(self.critic.forward(&inputs, &mut traces.1));
            }
        });
    }
}
