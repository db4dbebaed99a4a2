//! Speed of a full PPO minibatch step, as a share of the machine's `f32` peak measured in the same run.
//!
//! ```text
//! cargo run --release -p magpie-nn --example ppo_update -- [--seconds 5] [--kernel avx2] [--machine] [--case 1 18 6 6000]
//! ```
//!
//! A step consists of gathering rows, forward and backward passes of actor and critic, losses, gradient clipping and
//! Adam. The table shows the fastest step by wall-clock time, the best rate of fused multiply-adds measured between
//! steps, and the rows per CPU second over all steps. Without `--kernel`, the fastest single-precision kernel is
//! measured, and the fastest kernel of all if it is another one; because its products have fewer digits, it may exceed
//! the peak. `--machine` prints one line of numbers per case, for the comparison with PyTorch (`bench/ppo_update.sh`).

use std::time::Instant;

use cpu_time::ProcessTime;
use magpie_nn::ppo::{ActorCritic, Batch, Ppo, PpoConfig};
use magpie_nn::{Kernel, Shape, init};
use magpie_random::Stream;
use magpie_simd::{Isa, peak_gflops};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    let seconds: f64 = after("--seconds").map_or(3.0, |s| s.parse().expect("--seconds takes a number"));
    let kernels: Vec<Kernel> = match after("--kernel") {
        Some(name) => vec![name.parse().unwrap_or_else(|e| panic!("{e}"))],
        None => {
            let single = Kernel::from(Isa::best());
            [single].into_iter().chain(Some(Kernel::best()).filter(|&best| best != single)).collect()
        }
    };
    let machine = arguments.iter().any(|a| a == "--machine");

    if !machine {
        println!("best of {seconds} s per case");
        println!(
            "{:>8} {:>7} {:>9} {:>7} {:>12} {:>12} {:>9} {:>9} {:>6}",
            "kernel", "threads", "obs/act", "rows", "rows/s clock", "rows/s cpu", "GFLOP/s", "peak", "share"
        );
    }
    let all = [1, 2].into_iter().flat_map(|threads| {
        [(18, 6), (227, 17)].into_iter().flat_map(move |(observation, action)| {
            [6_000, 48_000].map(|rows| [threads, observation, action, rows])
        })
    });
    let one = arguments.iter().position(|a| a == "--case").map(|i| {
        std::array::from_fn(|j| {
            let number = arguments.get(i + 1 + j).and_then(|n| n.parse().ok());
            number.expect("--case takes four numbers: threads, observation, action, rows")
        })
    });
    for [threads, observation, action, rows] in one.map_or_else(|| all.collect(), |case| vec![case]) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        for &kernel in &kernels {
            pool.install(|| case(kernel, threads, observation, action, rows, seconds, machine));
        }
    }
}

fn case(
    kernel: Kernel,
    threads: usize,
    observation: usize,
    action: usize,
    rows: usize,
    seconds: f64,
    machine: bool,
) {
    let actor = Shape::tanh(&[observation, 128, 128, action]).expect("sizes");
    let critic = Shape::tanh(&[observation, 256, 256, 1]).expect("sizes");
    let mut draws = Stream::new(1, "bench").draws(0, 0);
    let mut policy = init::orthogonal(&actor, 2_f32.sqrt(), 0.01, &mut draws);
    policy.resize(actor.parameters() + action, 0.0);
    let mut weights = ActorCritic::new(policy, init::orthogonal(&critic, 2_f32.sqrt(), 1.0, &mut draws));
    let mut normals = |n: usize| (0..n).map(|_| draws.normal()).collect::<Vec<f32>>();
    let [observations, actions] = [observation, action].map(|width| normals(rows * width));
    let [advantages, returns, values] = [(); 3].map(|()| normals(rows));
    // Close to the initial policy's actions, so that ratios stay near 1 for a while, as in training.
    let log_probs: Vec<f32> =
        actions.chunks(action).map(|a| -a.iter().map(|x| 0.5 * x * x + 0.918_938_5).sum::<f32>()).collect();
    let mut order: Vec<u32> = (0..rows as u32).collect();
    Stream::new(2, "bench").draws(0, 0).shuffle(&mut order);
    let batch = Batch {
        rows: &order,
        observations: &observations,
        actions: &actions,
        log_probs: &log_probs,
        advantages: &advantages,
        returns: &returns,
        values: &values,
    };
    // Gradients of the first layer's inputs are not needed; every other layer has three products.
    let products = 3 * (actor.products() + critic.products()) - observation * (128 + 256);
    let flops = 2.0 * products as f64 * rows as f64;

    let mut ppo = Ppo::new(&actor, &critic, kernel);
    let config = PpoConfig::default();
    ppo.step(&config, &mut weights, &batch);
    let (mut best, mut steps, mut cpu, mut peak) = (f64::INFINITY, 0, 0.0, 0.0_f64);
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < seconds {
        peak = peak.max(peak_gflops(kernel.isa(), threads, |work| {
            rayon::broadcast(|_| work());
        }));
        let start_cpu = ProcessTime::now();
        for _ in 0..48_000 / rows {
            let clock = Instant::now();
            ppo.step(&config, &mut weights, &batch);
            best = best.min(clock.elapsed().as_secs_f64());
            steps += 1;
        }
        cpu += start_cpu.elapsed().as_secs_f64();
    }
    let gflops = flops / best / 1e9;
    let (per_clock, per_cpu) = (rows as f64 / best, (rows * steps * threads) as f64 / cpu);
    if machine {
        println!(
            "magpie {kernel} {threads} {observation} {action} {rows} {per_clock:.0} {per_cpu:.0} {gflops:.1} {peak:.1}"
        );
    } else {
        println!(
            "{:>8} {threads:>7} {:>9} {rows:>7} {per_clock:>12.0} {per_cpu:>12.0} {gflops:>9.1} {peak:>9.1} {:>6.2}",
            kernel.name(),
            format!("{observation}/{action}"),
            gflops / peak
        );
    }
}
