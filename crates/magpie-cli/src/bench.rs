//! `magpie bench`: steps per second of every task, on one core and on all.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use magpie_envs::{Batch, Environment, Options, Rows, TASKS};
use magpie_random::Stream;
use magpie_simd::{Isa, peak_gflops};

use crate::json;
use crate::output::Output;
use crate::words::count;

#[derive(clap::Args)]
pub struct Args {
    /// Tasks to measure, separated by commas. [default: all]
    #[arg(long, value_delimiter = ',', value_parser = TASKS)]
    tasks: Vec<String>,
    /// Number of environments stepped together.
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    environments: u32,
    /// Number of threads. [default: one, then one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Seconds to measure each line of the result, at most 3600.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Instruction set: avx512, avx2 or portable. [default: the fastest that this machine has]
    #[arg(long)]
    isa: Option<Isa>,
}

/// Pre-drawn random actions: drawing them is not what is measured.
const ACTION_SETS: usize = 8;

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    anyhow::ensure!(
        args.seconds > 0.0 && args.seconds <= 3600.0,
        "--seconds is {}, but must be above 0 and at most 3600",
        args.seconds
    );
    let isa = args.isa.unwrap_or_else(Isa::best);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let thread_counts = match args.threads {
        Some(threads) => vec![usize::from(threads)],
        None if cores > 1 => vec![1, cores],
        None => vec![1],
    };
    let tasks =
        TASKS.into_iter().filter(|name| args.tasks.is_empty() || args.tasks.iter().any(|t| t == name));
    let tasks: Vec<_> = tasks.collect();
    if !output.is_json() {
        let mut out = std::io::stdout().lock();
        writeln!(
            out,
            "{}, random actions, instruction set {isa}. The last column is the limit of the processor: what the same\n\
             threads reach with fused multiply-adds alone.\n",
            count(args.environments, "environment")
        )?;
        writeln!(out, "{:<14}{:>8}{:>16}{:>18}", "task", "threads", "steps/s", "peak FMA GFLOP/s")?;
    }
    for &threads in &thread_counts {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .with_context(|| format!("starting {threads} threads"))?;
        let peak = peak_gflops(isa, threads, |work| {
            pool.broadcast(|_| work());
        });
        for task in &tasks {
            let env = Arc::new(Environment::new(task, Options::default())?);
            let rate = pool.install(|| steps_per_second(&env, args, isa));
            let result = json::Benchmark {
                bench: format!("env/{task}"),
                steps_per_second: rate,
                threads,
                environments: args.environments,
                isa: isa.name().to_owned(),
                peak_fma_gflops: peak,
            };
            output.result(&result, |out| {
                writeln!(out, "{task:<14}{threads:>8}{:>16}{peak:>18.0}", thousands(rate))?;
                out.flush()
            })?;
        }
    }
    Ok(())
}

/// Steps a batch under random actions for about the wanted time, after a warm-up that leaves the first pose.
fn steps_per_second(env: &Arc<Environment>, args: &Args, isa: Isa) -> f64 {
    let mut batch = Batch::with_isa(Arc::clone(env), 0..args.environments, 0, isa);
    let mut rows = batch.rows();
    batch.reset(&mut rows);
    let actions: Vec<Vec<f32>> = (0..ACTION_SETS)
        .map(|set| {
            let mut draws = Stream::new(0, "bench actions").draws(0, set as u64);
            (0..batch.len() * env.action_size()).map(|_| draws.uniform(-1.0, 1.0)).collect()
        })
        .collect();
    let mut turn = 0;
    let mut step = |batch: &mut Batch, rows: &mut Rows| {
        batch.step(&actions[turn % ACTION_SETS], rows);
        turn += 1;
    };
    for _ in 0..50 {
        step(&mut batch, &mut rows);
    }
    let (start, limit) = (Instant::now(), Duration::from_secs_f64(args.seconds));
    let mut steps = 0_u64;
    while start.elapsed() < limit {
        step(&mut batch, &mut rows);
        steps += u64::from(args.environments);
    }
    steps as f64 / start.elapsed().as_secs_f64()
}

/// 1234567.8 as "1,234,568".
fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}
