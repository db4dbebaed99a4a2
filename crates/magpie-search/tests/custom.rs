//! Custom emitters, bonuses and learners are types that implement a trait; nothing else has to change.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use magpie_envs::{Environment, Options};
use magpie_learn::{Agent, Learner, RolloutBuffer, UpdateError, UpdateStats};
use magpie_qd::ArchivePair;
use magpie_random::Draws;
use magpie_search::{
    Batch, Bonus, Emitter, EpisodeAccumulator, Objective, Parts, Scheduler, SearchConfig, SearchError, Setup,
    State, Told, TrainingError, Turn,
};

/// Proposes untrained policies, and counts how many of them found a new cell.
#[derive(Default)]
struct Beginners {
    asked: bool,
    found: u64,
}

impl Emitter for Beginners {
    fn name(&self) -> &'static str {
        "beginners"
    }

    fn ask(&mut self, turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError> {
        if std::mem::replace(&mut self.asked, true) {
            return Ok(Vec::new());
        }
        let mut draws = turn.draws("beginners");
        let networks = &turn.setup.networks;
        let policies = (0..5).map(|_| Agent::new(networks, draws.bits().into()).policy()).collect();
        Ok(vec![Batch::New(policies)])
    }

    fn tell(&mut self, _turn: &mut Turn<'_>, told: &[Told]) -> Result<(), SearchError> {
        self.found += told.iter().map(|told| told.insertion.new_cells as u64).sum::<u64>();
        Ok(())
    }

    fn end(&mut self, _turn: &mut Turn<'_>) -> Result<(), SearchError> {
        self.asked = false;
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, SearchError> {
        Ok(self.found.to_le_bytes().to_vec())
    }

    fn restore(&mut self, _setup: &Setup, record: &[u8]) -> Result<(), SearchError> {
        let bytes = record.try_into().map_err(|_| SearchError::Foreign("state of the beginners"))?;
        (self.asked, self.found) = (false, u64::from_le_bytes(bytes));
        Ok(())
    }
}

/// Pays a bonus of one for every step.
struct Alive;

impl Bonus for Alive {
    fn begin_phase(&mut self, _archives: &ArchivePair) {}

    fn pay(
        &self,
        rollout: &mut RolloutBuffer,
        _episodes: &mut EpisodeAccumulator,
    ) -> Result<f64, TrainingError> {
        rollout.rewards.iter_mut().for_each(|reward| *reward += 1.0);
        Ok(0.25)
    }
}

/// Learns nothing, and counts how often it is called.
#[derive(Debug)]
struct Idle(Arc<AtomicUsize>);

impl Learner for Idle {
    fn learn(
        &mut self,
        _agent: &mut Agent,
        rollout: &mut RolloutBuffer,
        _draws: &mut Draws,
    ) -> Result<UpdateStats, UpdateError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(UpdateStats { rows: rollout.rows(), ..UpdateStats::default() })
    }
}

fn parts(asked: &Arc<AtomicUsize>) -> Parts {
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let mut config = SearchConfig { environments: 30, branches: 4, episodes: 2, ..SearchConfig::paper(&env) };
    (config.gradient_iterations, config.walk_iterations, config.train.rollout_length) = (2, 1, 16);
    // Accepts untrained policies too, although they fall at once.
    config.archive.threshold_min = 0.0;
    let asked = Arc::clone(asked);
    Parts {
        emitters: vec![Box::new(Beginners::default())],
        bonus: Some(Box::new(Alive)),
        learner: Some(Arc::new(move |_, _| Box::new(Idle(Arc::clone(&asked))))),
        ..Parts::new(env, config, Objective::True, 3)
    }
}

#[test]
fn own_parts_take_part_in_a_search_and_resume() {
    let asked = Arc::new(AtomicUsize::new(0));
    let mut search = Scheduler::start(parts(&asked)).unwrap();
    let report = search.iterate().unwrap();
    let [ppga, beginners] = &report.emitters[..] else { panic!("two emitters") };
    assert_eq!((ppga.name, beginners.name, beginners.proposed), ("ppga", "beginners", 5));
    // Two copies for two rollouts, and the walk.
    assert_eq!(asked.load(Ordering::Relaxed), 5);
    assert_eq!(ppga.ppga.as_ref().unwrap().gradients.curious_share, 0.25);
    let bytes = postcard::to_stdvec(search.state()).unwrap();
    let state: State = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(state.emitters[1].state, (beginners.new_cells as u64).to_le_bytes());
    let mut resumed = Scheduler::resume(parts(&asked), state).unwrap();
    search.iterate().unwrap();
    resumed.iterate().unwrap();
    assert!(search.state() == resumed.state());
}

/// Fails when asked.
struct Broken;

impl Emitter for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn ask(&mut self, _turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError> {
        Err(SearchError::Emitter { name: self.name(), problem: "out of ideas".to_owned() })
    }

    fn save(&self) -> Result<Vec<u8>, SearchError> {
        Ok(Vec::new())
    }

    fn restore(&mut self, _setup: &Setup, _record: &[u8]) -> Result<(), SearchError> {
        Ok(())
    }
}

#[test]
fn an_emitter_that_fails_leaves_the_others_where_they_were() {
    let asked = Arc::new(AtomicUsize::new(0));
    let parts = Parts { emitters: vec![Box::new(Broken)], learner: None, ..parts(&asked) };
    let mut search = Scheduler::start(parts).unwrap();
    let before = search.state().clone();
    let error = search.iterate().unwrap_err();
    assert_eq!(error.to_string(), "emitter broken: out of ideas");
    let after = State { failures: before.failures, ..search.state().clone() };
    assert!(search.state().failures == 1 && after == before);
}
