//! Settling: what is certain afterwards, and that stopping does not matter.

use std::sync::Arc;

use magpie_envs::{Environment, Options};
use magpie_learn::{Policy, evaluate};
use magpie_qd::{Acceptance, ArchivePair, Entry, QdOffset};
use magpie_search::{
    Effort, EmitterName, Objective, Parts, Scheduler, SearchConfig, Settling, SettlingRecord, elite_policy,
};

/// Children of hoppers that fall at once, in cells so small that noise moves them.
fn search() -> Scheduler {
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let mut config = SearchConfig { episodes: 3, actor: 16, ..SearchConfig::paper(&env) };
    config.emitters = vec![EmitterName::IsoLine];
    config.emitter.iso_line.children = 60;
    config.archive.threshold_min = 0.0;
    config.archive.resolution = 200;
    (config.archive.depth, config.archive.caution, config.reevaluations) = (3, 1.0, 10);
    let mut search = Scheduler::start(Parts::new(env, config, Objective::True, 3)).unwrap();
    let moved: usize = (0..3).map(|_| search.iterate().unwrap().reevaluation.moved).sum();
    assert!(moved > 0, "noise has moved nothing");
    search
}

fn settled(search: &Scheduler, effort: Effort) -> Settling {
    let mut settling = search.settling(effort);
    while !settling.is_done() {
        settling.step().unwrap();
    }
    settling
}

fn bytes(settling: &Settling) -> Vec<u8> {
    postcard::to_stdvec(&settling.record()).unwrap()
}

#[test]
fn every_elite_has_its_episodes_and_lies_in_its_cell() {
    let search = search();
    let before = search.state().clone();
    let settling = settled(&search, Effort::Episodes(40));
    assert!(search.state() == &before, "the search is another one");
    let archives = settling.archives();
    assert!(!archives.result().is_empty());
    for elite in archives.elites() {
        assert!(elite.entry.episodes >= 40, "{}", elite.entry.episodes);
        assert_eq!(archives.cells().index_of(&elite.entry.measures), Ok(elite.cell));
    }
    assert!(archives.metrics(QdOffset::PerStep(0.0)) != before.archives.metrics(QdOffset::PerStep(0.0)));
}

#[test]
fn an_archive_is_verified_by_episodes_that_chose_nothing() {
    let search = search();
    let mut settling = search.settling(Effort::Episodes(20));
    let mut chosen_by: Option<ArchivePair> = None;
    while !settling.is_done() {
        settling.step().unwrap();
        if settling.progress().verifying {
            let now = settling.archives().clone();
            assert!(chosen_by.replace(now.clone()).is_none_or(|before| before == now), "it was changed");
        }
    }
    let verified = settling.verified().unwrap().unwrap();
    assert_eq!(verified.episodes, 20);
    // Whoever evaluates the elites in as many episodes with this seed finds the same.
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let config = search.config();
    let archives = settling.archives();
    let policies: Vec<Policy> = archives.elites().map(|elite| elite_policy(&elite)).collect();
    let policies: Vec<&Policy> = policies.iter().collect();
    let networks = config.networks(&env).unwrap();
    let found = evaluate(&env, &networks, &policies, 20, config.actions, verified.seed);
    let mut binned = ArchivePair::new(archives.cells().clone(), Acceptance::Elitist, 0, 0).unwrap();
    let mut fresh: Vec<_> = archives.elites().zip(&found).collect();
    // Of those that fall in one cell, the one with the best stored objective stays.
    fresh.sort_by(|(a, _), (b, _)| b.entry.objective.total_cmp(&a.entry.objective));
    for (elite, found) in fresh {
        let entry = Entry {
            objective: found.mean_return(),
            measures: found.mean_measures(),
            length: found.mean_length(),
            ..elite.entry.clone()
        };
        binned.add_first(entry.as_candidate()).unwrap();
    }
    assert_eq!(binned.metrics(QdOffset::PerStep(config.archive.qd_offset)), verified.metrics);
    // Another search has other episodes, and so has this one later.
    let mut later = search;
    later.iterate().unwrap();
    assert_ne!(settled(&later, Effort::Episodes(1)).verified().unwrap().unwrap().seed, verified.seed);
}

#[test]
fn a_budget_is_kept() {
    let search = search();
    let least: f64 = search.state().archives.elites().map(|elite| elite.entry.length).sum();
    let budget = (60.0 * least) as u64;
    let settling = settled(&search, Effort::Steps(budget));
    let verified = settling.verified().unwrap().unwrap();
    assert!(verified.episodes > 20, "{}", verified.episodes);
    // Lengths are those of earlier episodes, and the next ones may be a little longer.
    let steps = settling.progress().steps as f64;
    assert!(steps < 1.05 * budget as f64 && steps > 0.5 * budget as f64, "{steps} of {budget}");
    let nothing = settled(&search, Effort::Steps(0));
    assert_eq!(nothing.verified().unwrap().unwrap().episodes, 1);
    assert!(nothing.archives() == &search.state().archives);
}

fn with_threads(threads: usize, work: impl FnOnce() -> Vec<u8> + Send) -> Vec<u8> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn stopping_and_threads_do_not_matter() {
    for effort in [Effort::Episodes(30), Effort::Steps(100_000)] {
        let whole = with_threads(1, || bytes(&settled(&search(), effort)));
        let stopped = with_threads(3, || {
            let search = search();
            let mut settling = search.settling(effort);
            while !settling.is_done() {
                settling.step().unwrap();
                let record = bytes(&settling);
                settling = search.settling(effort);
                let record: SettlingRecord<'_> = postcard::from_bytes(&record).unwrap();
                settling.restore(record).unwrap();
            }
            bytes(&settling)
        });
        assert!(whole == stopped, "{effort:?}");
    }
}

#[test]
fn a_record_of_other_work_is_refused() {
    let mut search = search();
    let record = bytes(&settled(&search, Effort::Episodes(1)));
    let refused = |search: &Scheduler, effort| {
        let record: SettlingRecord<'_> = postcard::from_bytes(&record).unwrap();
        search.settling(effort).restore(record).unwrap_err().to_string()
    };
    assert!(refused(&search, Effort::Episodes(2)).contains("archive being settled"));
    search.iterate().unwrap();
    assert!(refused(&search, Effort::Episodes(1)).contains("archive being settled"));
}
