//! Trains one policy and prints its progress: `cargo run --release --example learn -- walker2d 30e6 key=value...`.

use std::sync::Arc;
use std::time::Instant;

use magpie_envs::{Environment, Options};
use magpie_learn::{Actions, Agent, Networks, TrainConfig, Trainer, evaluate};
use magpie_nn::Kernel;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let task = args.first().map_or("walker2d", String::as_str);
    let steps: f64 = args.get(1).map_or(Ok(1e6), |s| s.parse())?;
    let mut config = TrainConfig::default();
    let (mut environments, mut seed, mut kernel) = (1024_u32, 0_u64, Kernel::best());
    for pair in &args[2.min(args.len())..] {
        let (key, value) = pair.split_once('=').ok_or("key=value")?;
        match key {
            "envs" => environments = value.parse()?,
            "kernel" => kernel = value.parse()?,
            "seed" => seed = value.parse()?,
            "window" => config.rollout_length = value.parse()?,
            "epochs" => config.epochs = value.parse()?,
            "minibatches" => config.minibatches = value.parse()?,
            "lr" => config.ppo.adam.learning_rate = value.parse()?,
            "kl" => config.target_kl = value.parse()?,
            "gamma" => config.gamma = value.parse()?,
            "entropy" => config.ppo.entropy_weight = value.parse()?,
            "vclip" => config.ppo.value_clip = value.parse()?,
            _ => return Err(format!("unknown setting {key}").into()),
        }
    }
    let env = Arc::new(Environment::new(task, Options::default())?);
    let networks = Networks::paper(env.observation_size(), env.action_size())?;
    let agent = Agent::new(&networks, seed);
    let mut trainer = Trainer::new(Arc::clone(&env), 0..environments, networks.clone(), agent, config, seed)
        .with_kernel(kernel);
    let start = Instant::now();
    let per = trainer.steps_per_iteration() as f64;
    let total = (steps / per).ceil() as u64;
    for i in 0..total {
        let it = trainer.iterate(|_, _| {})?;
        if i % (total / 20).max(1) == 0 || i + 1 == total {
            let done = (i + 1) as f64 * per;
            let log_std: f32 =
                trainer.agent.weights.policy[networks.actor.parameters()..].iter().sum::<f32>()
                    / networks.actor.outputs() as f32;
            println!(
                "{:6.2}M return {:8.1} length {:6.1} kl {:.4} mb {:3} ev {:.2} logstd {:.2} vloss {:.3} {:.0} steps/s",
                done / 1e6,
                it.episodes.mean_return().unwrap_or(f64::NAN),
                it.episodes.mean_length().unwrap_or(f64::NAN),
                it.update.ppo.approx_kl,
                it.update.minibatches,
                it.update.explained_variance,
                log_std,
                it.update.ppo.value_loss,
                done / start.elapsed().as_secs_f64()
            );
        }
    }
    for actions in [Actions::Sampled, Actions::Mean] {
        let e = &evaluate(&env, &networks, &[&trainer.agent.policy()], 100, actions, 1000 + seed)[0];
        println!(
            "{task} seed {seed} {actions:?}: return {:.1} length {:.1} measures {:?}",
            e.mean_return(),
            e.mean_length(),
            e.mean_measures()
        );
    }
    Ok(())
}
