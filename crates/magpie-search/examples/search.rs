//! A small search, one line an iteration: `cargo run --release --example search -- walker2d 10 [CURIOSITY [SEED]]`.

use std::sync::Arc;

use magpie_envs::{Environment, Options};
use magpie_search::{Objective, Parts, Scheduler, SearchConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let task = args.first().map_or("walker2d", String::as_str);
    let iterations = args.get(1).map_or(Ok(10), |n| n.parse())?;
    let env = Arc::new(Environment::new(task, Options::default())?);
    let mut config = SearchConfig { environments: 300, branches: 30, ..SearchConfig::paper(&env) };
    config.curiosity.weight = args.get(2).map_or(Ok(0.0), |q| q.parse())?;
    let seed = args.get(3).map_or(Ok(0), |s| s.parse())?;
    let mut search = Scheduler::start(Parts::new(env, config, Objective::True, seed))?;
    for _ in 0..iterations {
        let report = search.iterate()?;
        let m = report.metrics;
        let Some(ppga) = report.ppgas().next() else { continue };
        println!(
            "{:4} QD-Score {:9.0} coverage {:5.2} % best {:7.1} mean {:6.1} new {:3} accepted {:3} restarts {} \
             search policy {:6.1} | gradients {:.2} s evaluation {:.2} archive {:.3} walk {:.2}",
            report.iteration,
            m.qd_score,
            100.0 * m.coverage,
            m.best.unwrap_or(f64::NAN),
            m.mean.unwrap_or(f64::NAN),
            report.new_cells,
            ppga.accepted,
            ppga.restarts,
            ppga.search_policy.objective,
            ppga.seconds.gradients,
            report.evaluation_seconds,
            report.archive_seconds,
            ppga.seconds.walk
        );
    }
    Ok(())
}
