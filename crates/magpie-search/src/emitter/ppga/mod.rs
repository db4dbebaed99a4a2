//! PPGA (Algorithm 1 of the paper): PPO gradients of the objective and of each measure, branched by xNES.
//!
//! ```text
//! search ────┬─► gradients: one copy trained on the objective, one on each measure
//! policy ◄───┤   branches: policy + c₀ ∇objective + Σ cⱼ ∇measureⱼ,  c ~ xNES
//!   ▲        └─► evaluated and inserted by the scheduler
//!   │                                   │ improvement
//!   └── walk: PPO on |c₀| objective + Σ cⱼ measureⱼ ◄── xNES
//! ```
//!
//! With `intermediate_policies`, the policies that the copies and the search policy pass through in training are
//! proposed too. Several search policies can take turns ([`Policies`]).

mod gradients;
mod policies;
mod restart;
mod stall;

use std::time::Instant;

use magpie_learn::{Agent, Networks, Policy};
use magpie_nn::adam::Adam;
use magpie_nn::init;
use magpie_nn::normaliser::RunningMeanStd;
use magpie_qd::Xnes;
use magpie_random::Stream;
use serde::{Deserialize, Serialize};

use super::{Batch, Emitter, Part, Setup, Told, Turn};
use crate::config::{Restarts, SearchConfig, Walk};
use crate::error::{SearchError, TrainingError};
use crate::evaluator::elite_policy;
use crate::measure_shaping::MeasureShaping;
use crate::phase::{Phase, PhaseOutput, PhaseStats};
use crate::record::{decode, encode};
use crate::reward_mixer::RewardMixer;
use gradients::Gradients;
pub(super) use policies::Policies;
use restart::{Past, RestartTarget};
use stall::StallDetector;

/// A critic with its optimiser state and the normaliser of its value targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Critic {
    parameters: Vec<f32>,
    adam: Adam,
    returns: RunningMeanStd,
}

impl Critic {
    fn new(networks: &Networks, seed: u64, who: u32) -> Critic {
        let mut draws = Stream::new(seed, "initial critics").draws(who, 0);
        let parameters = init::orthogonal(&networks.critic, std::f32::consts::SQRT_2, 1.0, &mut draws);
        Critic { adam: Adam::new(parameters.len()), parameters, returns: RunningMeanStd::new(1) }
    }

    fn of(agent: Agent) -> Critic {
        let Agent { weights, returns, .. } = agent;
        Critic { parameters: weights.critic, adam: weights.critic_adam, returns }
    }

    /// An agent with this critic and the policy of `agent`.
    fn with_policy_of(&self, agent: &Agent) -> Agent {
        let mut copy = agent.clone();
        copy.weights.critic.clone_from(&self.parameters);
        copy.weights.critic_adam = self.adam.clone();
        copy.returns = self.returns.clone();
        copy
    }
}

/// The state that PPGA keeps between iterations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PpgaState {
    /// The search policy, with the critic of the walk.
    pub agent: Agent,
    /// The critics of the gradient phase: for the objective, then for each measure.
    pub critics: Vec<Critic>,
    /// The distribution of the coefficients.
    pub xnes: Xnes,
    /// The number of restarts.
    pub restarts: u64,
    /// Detects when the archive stops growing.
    stall: StallDetector,
    /// Cells next to empty ones where the search has restarted, in order.
    pub restart_targets: Vec<usize>,
}

/// What a search policy is for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Role {
    walk: Walk,
    restarts: Restarts,
    patience: u32,
}

impl Role {
    /// Explores as configured.
    fn explorer(config: &SearchConfig) -> Role {
        let restarts = match (config.restarts, config.curiosity.weight != 0.0) {
            (Restarts::Auto, true) => Restarts::Frontier,
            (Restarts::Auto, false) => Restarts::Random,
            (chosen, _) => chosen,
        };
        Role { walk: config.walk, restarts, patience: config.patience }
    }

    /// Climbs. It does not mind how slowly the archive grows, because that mostly depends on new cells.
    const CLIMBER: Role = Role { walk: Walk::Objective, restarts: Restarts::Best, patience: 0 };
}

/// The emitter.
pub(super) struct Ppga {
    role: Role,
    state: PpgaState,
    step: Step,
    restart: bool,
    report: Option<PpgaReport>,
}

/// The next step of the iteration.
enum Step {
    /// Compute gradients and propose branches.
    Branch,
    /// Learn from the branches with these coefficients.
    Learn { agent: Box<Agent>, coefficients: Vec<f64> },
    /// Propose the intermediate policies of the walk.
    Intermediate(Vec<Policy>),
}

impl Ppga {
    /// A single search policy that explores.
    pub fn new(setup: &Setup, seed: u64) -> Result<Ppga, SearchError> {
        Ppga::with_role(Role::explorer(&setup.config), setup, seed)
    }

    fn with_role(role: Role, setup: &Setup, seed: u64) -> Result<Ppga, SearchError> {
        let (networks, measures) = (&setup.networks, setup.env.measure_size());
        let mut draws = Stream::new(seed, "xnes start").draws(0, 0);
        let state = PpgaState {
            agent: Agent::new(networks, seed),
            critics: (0..=measures as u32).map(|who| Critic::new(networks, seed, who)).collect(),
            xnes: Xnes::start(measures, setup.config.sigma0, &mut draws)?,
            restarts: 0,
            stall: StallDetector::from(0.0),
            restart_targets: Vec::new(),
        };
        Ok(Ppga { role, state, step: Step::Branch, restart: false, report: None })
    }

    /// The search policy at the start of the iteration.
    fn search_agent(&self, setup: &Setup) -> Agent {
        let mut agent = self.state.agent.clone();
        if setup.config.reset_log_std {
            agent.weights.policy[setup.networks.actor.parameters()..].fill(0.0);
        }
        agent
    }

    /// Returns the search policy, the branches, and the intermediate policies of the copies.
    fn branch(&mut self, turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError> {
        let began = Instant::now();
        let agent = self.search_agent(turn.setup);
        // The search policy's measures determine the direction in which the copies of measures are trained.
        let evaluated = turn.evaluate(vec![agent.policy()], Part::SearchPolicy);
        let search_policy = SearchPolicy { objective: evaluated[0].objective, length: evaluated[0].length };
        let evaluation = began.elapsed().as_secs_f64();

        let mut critics = self.state.critics.clone();
        let factory = turn.trainers(Part::Gradients);
        let measures = &evaluated[0].measures;
        let mut gradients = Gradients::estimate(&factory, turn, &agent, measures, &mut critics)
            .map_err(SearchError::during("gradients"))?;
        self.state.critics = critics;
        *turn.env_steps += gradients.stats.steps;

        let coefficients =
            self.state.xnes.ask(turn.setup.config.branches as usize, &mut turn.draws("coefficients"));
        let search = agent.policy();
        let branch = |c: &[f64]| {
            let mut policy = search.clone();
            gradients.branch(&mut policy.parameters, c);
            policy
        };
        let branches = coefficients.chunks(self.state.xnes.dim()).map(branch).collect();
        let intermediate = std::mem::take(&mut gradients.intermediate);
        self.report = Some(PpgaReport {
            accepted: 0,
            restarts: self.state.restarts,
            search_policy,
            walk_coefficients: Vec::new(),
            gradients: gradients.stats,
            walk: None,
            seconds: PpgaSeconds {
                evaluation,
                gradients: began.elapsed().as_secs_f64() - evaluation,
                walk: 0.0,
            },
        });
        self.step = Step::Learn { agent: Box::new(agent), coefficients };
        Ok(vec![Batch::Evaluated(evaluated), Batch::New(branches), Batch::New(intermediate)])
    }

    /// Updates xNES with the branches. Then the search policy walks, unless the search restarts.
    fn learn(
        &mut self,
        turn: &mut Turn<'_>,
        agent: Agent,
        coefficients: &[f64],
        branches: &Told,
    ) -> Result<(), SearchError> {
        let learned = self.state.xnes.tell(coefficients, &branches.insertion.values());
        let config = &turn.setup.config;
        let walk_coefficients = walk_coefficients(self.role.walk, &self.state.xnes, config.objective_floor);
        self.state.agent = agent;
        let (score, iterations) = (turn.metrics().qd_score_offset, turn.iteration + 1);
        let patience = patience(self.role.patience, config.patience_growth, self.state.restarts);
        let stalled = self.state.stall.has_stalled(score, iterations, patience, config.min_walks);
        // The search restarts if no branch was accepted, the search has stalled or xNES has collapsed. It then skips
        // the walk, whose result would be discarded, unless there is no elite to restart from.
        let accepted = branches.insertion.accepted();
        self.restart = accepted == 0 || learned.is_err() || stalled;
        let began = Instant::now();
        let walk = match self.restart && !turn.archives.soft().is_empty() {
            true => None,
            false => Some(self.walk(turn, &walk_coefficients)),
        };
        let (walk, intermediate) = match walk {
            Some(Ok((stats, intermediate))) => (Some(Ok(stats)), intermediate),
            Some(Err(reason)) => (Some(Err(reason)), Vec::new()),
            None => (None, Vec::new()),
        };
        self.step = Step::Intermediate(intermediate);
        if let Some(report) = &mut self.report {
            (report.accepted, report.walk_coefficients, report.walk) = (accepted, walk_coefficients, walk);
            report.seconds.walk = began.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Trains the search policy with PPO on the mean of xNES. If this fails, the search policy and the rewards keep
    /// their state. Also returns the intermediate policies, if they are to be evaluated.
    fn walk(
        &mut self,
        turn: &mut Turn<'_>,
        coefficients: &[f64],
    ) -> Result<(PhaseStats, Vec<Policy>), TrainingError> {
        let before = turn.rewards.save().map_err(TrainingError::of_rewards)?;
        let walked = self.try_walk(turn, coefficients);
        if walked.is_err() {
            turn.rewards.restore(&before).map_err(TrainingError::of_rewards)?;
        }
        walked
    }

    fn try_walk(
        &mut self,
        turn: &mut Turn<'_>,
        coefficients: &[f64],
    ) -> Result<(PhaseStats, Vec<Policy>), TrainingError> {
        let config = &turn.setup.config;
        let shaping = MeasureShaping::new(&turn.setup.env, config.measure_shaping);
        let coefficients = coefficients.iter().map(|&c| c as f32).collect();
        let mixer = RewardMixer::new(coefficients, &shaping, config.environments as usize)
            .with_bonus_apart(!config.curiosity.weighted);
        let factory = turn.trainers(Part::Walk);
        let trainer = factory.trainer(self.state.agent.clone(), 0..config.environments);
        let phase = Phase::new(vec![trainer], vec![mixer], config.intermediate_policies);
        let PhaseOutput { agents, intermediate, stats } =
            phase.train(&factory, config.walk_iterations, turn.rewards, turn.archives)?;
        *turn.env_steps += stats.steps;
        self.state.agent = agents.into_iter().next().unwrap_or_else(|| self.state.agent.clone());
        Ok((stats, intermediate))
    }

    /// Restarts with a new distribution and an elite as the search policy, including the elite's normaliser.
    fn restart(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        let mut draws = turn.draws("restart");
        let PpgaState { agent, xnes, restarts, stall, restart_targets, .. } = &mut self.state;
        let (archives, config) = (turn.archives, &turn.setup.config);
        let past = Past { earlier: restart_targets, restarts: *restarts, iteration: turn.iteration + 1 };
        let target =
            RestartTarget::choose(self.role.restarts, archives, &config.curiosity, &past, &mut draws);
        restart_targets.extend(target.iter().filter(|target| target.frontier).map(|target| target.cell));
        let elite = match &target {
            Some(target) => archives.elite(target.cell),
            None => archives.random_elite(&mut draws),
        };
        if let Some(elite) = elite {
            let policy = elite_policy(&elite);
            agent.weights.policy = policy.parameters;
            agent.observations = policy.normaliser;
        }
        *xnes = Xnes::start(turn.setup.env.measure_size(), config.sigma0, &mut draws)?;
        if let Some(heading) = target.and_then(|target| target.heading) {
            *xnes = Xnes::new([&xnes.mean()[..1], &heading].concat(), config.sigma0)?;
        }
        *restarts += 1;
        *stall = StallDetector::from(turn.metrics().qd_score_offset);
        Ok(())
    }
}

/// Report of a PPGA emitter for an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct PpgaReport {
    /// The number of branches that the soft archive accepted.
    pub accepted: usize,
    /// The number of restarts since the beginning.
    pub restarts: u64,
    /// Performance of the search policy before the walk.
    pub search_policy: SearchPolicy,
    /// Reward of the walk: weights of the objective and of each measure.
    pub walk_coefficients: Vec<f64>,
    /// Training of the copy for the objective.
    pub gradients: PhaseStats,
    /// Training in the walk; `None` if the search restarted instead. If the walk failed, the search policy and the
    /// reward model are unchanged, and the results of the branches are kept.
    pub walk: Option<Result<PhaseStats, TrainingError>>,
    /// Time spent.
    pub seconds: PpgaSeconds,
}

/// Time spent by a PPGA emitter.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PpgaSeconds {
    /// Evaluation of the search policy.
    pub evaluation: f64,
    /// Computing gradients and creating branches.
    pub gradients: f64,
    /// Walk.
    pub walk: f64,
}

/// Performance of the search policy.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPolicy {
    /// Mean true return.
    pub objective: f64,
    /// Mean length of its episodes.
    pub length: f64,
}

/// The number of policies evaluated per iteration: the search policy, the branches, and the intermediate policies of
/// the copies for the objective and for each measure and of the walk.
pub(super) fn candidates(config: &SearchConfig, measures: usize) -> u64 {
    let (n1, n2) = (u64::from(config.gradient_iterations), u64::from(config.walk_iterations));
    let intermediate = if config.intermediate_policies { (measures as u64 + 1) * n1 + n2 } else { 0 };
    1 + u64::from(config.branches) + intermediate
}

impl Emitter for Ppga {
    fn name(&self) -> &'static str {
        "ppga"
    }

    /// Collects observation statistics, so that the first copies already have a useful normaliser.
    fn start(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        let environments = turn.setup.config.environments;
        if let Some(policy) = &turn.setup.start {
            self.state.agent.set_policy(policy.clone());
        }
        let mut trainer = turn.trainers(Part::Warmup).trainer(self.state.agent.clone(), 0..environments);
        trainer.observe();
        *turn.env_steps += trainer.steps_per_iteration() as u64;
        self.state.agent = trainer.agent;
        if let Some(policy) = &turn.setup.start {
            // Observations of these environments say more than those of a few demonstrations.
            let statistics = self.state.agent.observations.clone();
            self.state.agent.set_policy(policy.renormalised(&turn.setup.networks.actor, &statistics));
        }
        Ok(())
    }

    fn ask(&mut self, turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError> {
        match &mut self.step {
            Step::Branch => self.branch(turn),
            Step::Intermediate(intermediate) if !intermediate.is_empty() => {
                Ok(vec![Batch::New(std::mem::take(intermediate))])
            }
            Step::Learn { .. } | Step::Intermediate(_) => Ok(Vec::new()),
        }
    }

    fn tell(&mut self, turn: &mut Turn<'_>, told: &[Told]) -> Result<(), SearchError> {
        match (std::mem::replace(&mut self.step, Step::Intermediate(Vec::new())), told) {
            (Step::Learn { agent, coefficients }, [_, branches, _]) => {
                self.learn(turn, *agent, &coefficients, branches)
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        if std::mem::take(&mut self.restart) {
            self.restart(turn)?;
        }
        self.step = Step::Branch;
        if let Some(report) = &mut self.report {
            report.restarts = self.state.restarts;
        }
        Ok(())
    }

    fn ppga(&self) -> Option<PpgaReport> {
        self.report.clone()
    }

    fn save(&self) -> Result<Vec<u8>, SearchError> {
        encode("ppga", &self.state)
    }

    fn restore(&mut self, setup: &Setup, record: &[u8]) -> Result<(), SearchError> {
        let state = PpgaState::from_record(record)?;
        let (networks, measures) = (&setup.networks, setup.env.measure_size());
        let (policy, critic) = (networks.policy_len(), networks.critic.parameters());
        let weights = &state.agent.weights;
        let fits = [
            (weights.policy.len() == policy, "size of the policy"),
            (weights.critic.len() == critic, "size of the critic"),
            (state.critics.len() == measures + 1, "number of critics"),
            (state.critics.iter().all(|c| c.parameters.len() == critic), "size of the critics"),
            (state.xnes.dim() == measures + 1, "dimensions of xNES"),
            (state.restart_targets.iter().all(|&cell| cell < setup.cells), "cells at which it has restarted"),
        ];
        if let Some((_, what)) = fits.into_iter().find(|(fits, _)| !fits) {
            return Err(SearchError::Foreign(what));
        }
        *self = Ppga { role: self.role, state, step: Step::Branch, restart: false, report: None };
        Ok(())
    }
}

impl PpgaState {
    /// Decodes the state from the record of a PPGA emitter.
    pub fn from_record(record: &[u8]) -> Result<PpgaState, SearchError> {
        decode("ppga", record)
    }
}

/// In a mixture, the mean of xNES with |c₀|, at least `floor`, in place of c₀, which is the paper's objective for the search
/// policy: a walk is never rewarded for a low objective.
fn walk_coefficients(walk: Walk, xnes: &Xnes, floor: f64) -> Vec<f64> {
    let mut coefficients = xnes.mean().to_vec();
    match walk {
        Walk::Mixture => coefficients[0] = coefficients[0].abs().max(floor),
        Walk::Objective => {
            coefficients.fill(0.0);
            coefficients[0] = 1.0;
        }
    }
    coefficients
}

/// The patience after some restarts; none stays none.
fn patience(first: u32, growth: f64, restarts: u64) -> u32 {
    if first == 0 { 0 } else { first.saturating_add((growth * restarts as f64) as u32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_is_never_paid_for_doing_badly() {
        let xnes = Xnes::new(vec![-0.5, -1.5, 2.0], 1.0).unwrap();
        assert_eq!(walk_coefficients(Walk::Mixture, &xnes, 0.0), [0.5, -1.5, 2.0]);
        assert_eq!(walk_coefficients(Walk::Mixture, &xnes, 0.7), [0.7, -1.5, 2.0]);
        assert_eq!(walk_coefficients(Walk::Objective, &xnes, 0.7), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn where_to_restart_follows_curiosity_unless_said() {
        let env = magpie_envs::Environment::new("hopper", magpie_envs::Options::default()).unwrap();
        let restarts = |restarts, weight| {
            let mut config = SearchConfig { restarts, ..SearchConfig::paper(&env) };
            config.curiosity.weight = weight;
            Role::explorer(&config).restarts
        };
        assert_eq!(
            [0.0, 2.0].map(|weight| restarts(Restarts::Auto, weight)),
            [Restarts::Random, Restarts::Frontier]
        );
        assert_eq!([0.0, 2.0].map(|weight| restarts(Restarts::Promise, weight)), [Restarts::Promise; 2]);
    }

    #[test]
    fn patience_grows_with_restarts_where_there_is_any() {
        assert_eq!([0, 1, 4, 10].map(|restarts| patience(3, 0.5, restarts)), [3, 3, 5, 8]);
        assert_eq!((patience(0, 0.5, 10), patience(3, 1e3, u64::MAX)), (0, u32::MAX));
    }
}
