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
//! With `intermediate_policies`, the policies that copies and search policy were on their way are proposed too.

mod gradients;
mod restart;
mod stall;

use std::time::Instant;

use magpie_learn::{Agent, Networks, Policy};
use magpie_nn::adam::Adam;
use magpie_nn::init;
use magpie_nn::normaliser::Running;
use magpie_qd::Xnes;
use magpie_random::Stream;
use serde::{Deserialize, Serialize};

use super::{Batch, Emitter, Part, Setup, Told, Turn};
use crate::config::SearchConfig;
use crate::error::{SearchError, TrainingError};
use crate::evaluator::elite_policy;
use crate::measure_shaping::MeasureShaping;
use crate::phase::{Phase, PhaseOutput, PhaseStats};
use crate::record::{decode, encode};
use crate::reward_mixer::RewardMixer;
use gradients::Gradients;
use restart::RestartTarget;
use stall::StallDetector;

/// A critic with its optimiser's memory and the normalisation of its targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Critic {
    parameters: Vec<f32>,
    adam: Adam,
    returns: Running,
}

impl Critic {
    fn new(networks: &Networks, seed: u64, who: u32) -> Critic {
        let mut draws = Stream::new(seed, "initial critics").draws(who, 0);
        let parameters = init::orthogonal(&networks.critic, std::f32::consts::SQRT_2, 1.0, &mut draws);
        Critic { adam: Adam::new(parameters.len()), parameters, returns: Running::new(1) }
    }

    fn of(agent: Agent) -> Critic {
        let Agent { weights, returns, .. } = agent;
        Critic { parameters: weights.critic, adam: weights.critic_adam, returns }
    }

    /// This critic beside the policy of `agent`.
    fn with_policy_of(&self, agent: &Agent) -> Agent {
        let mut copy = agent.clone();
        copy.weights.critic.clone_from(&self.parameters);
        copy.weights.critic_adam = self.adam.clone();
        copy.returns = self.returns.clone();
        copy
    }
}

/// What PPGA carries from one iteration to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PpgaState {
    /// The search policy, with the critic of the walk.
    pub agent: Agent,
    /// Critics of the gradient phase: of the objective, then of each measure.
    pub critics: Vec<Critic>,
    /// The distribution of coefficients.
    pub xnes: Xnes,
    /// Restarts made.
    pub restarts: u64,
    /// How fast the archive has been growing.
    stall: StallDetector,
    /// Cells beside empty ones at which it has restarted, in order.
    pub restart_targets: Vec<usize>,
}

/// The emitter.
pub(super) struct Ppga {
    state: PpgaState,
    step: Step,
    restart: bool,
    report: Option<PpgaReport>,
}

/// What comes next in the iteration.
enum Step {
    /// Gradients and branches.
    Branch,
    /// To be told about the branches with these coefficients.
    Learn { agent: Box<Agent>, coefficients: Vec<f64> },
    /// To propose what the search policy was on its walk.
    LookBack(Vec<Policy>),
}

impl Ppga {
    pub fn new(setup: &Setup, seed: u64) -> Result<Ppga, SearchError> {
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
        Ok(Ppga { state, step: Step::Branch, restart: false, report: None })
    }

    /// The search policy as the iteration starts.
    fn search_agent(&self, setup: &Setup) -> Agent {
        let mut agent = self.state.agent.clone();
        if setup.config.reset_log_std {
            agent.weights.policy[setup.networks.actor.parameters()..].fill(0.0);
        }
        agent
    }

    /// The search policy; branches along the gradients; the copies behind the gradients on their way.
    fn branch(&mut self, turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError> {
        let began = Instant::now();
        let agent = self.search_agent(turn.setup);
        // Where it is decides which way the copies of the measures are trained.
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

    /// xNES learns from the branches. Then the search policy walks, unless it is to restart.
    fn learn(
        &mut self,
        turn: &mut Turn<'_>,
        agent: Agent,
        coefficients: &[f64],
        branches: &Told,
    ) -> Result<(), SearchError> {
        let learned = self.state.xnes.tell(coefficients, &branches.insertion.values());
        let walk_coefficients = walk_coefficients(&self.state.xnes);
        self.state.agent = agent;
        let (score, iterations) = (turn.metrics().qd_score_offset, turn.iteration + 1);
        let stalled = self.state.stall.has_stalled(score, iterations, turn.setup.config.patience);
        // Nothing accepted, a standstill, or a distribution that has collapsed: start elsewhere. A walk before that would
        // be thrown away, unless there is no elite to start from.
        let accepted = branches.insertion.accepted();
        self.restart = accepted == 0 || learned.is_err() || stalled;
        let began = Instant::now();
        let walk = match self.restart && !turn.archives.soft().is_empty() {
            true => None,
            false => Some(self.walk(turn, &walk_coefficients)),
        };
        let (walk, trail) = match walk {
            Some(Ok((stats, trail))) => (Some(Ok(stats)), trail),
            Some(Err(reason)) => (Some(Err(reason)), Vec::new()),
            None => (None, Vec::new()),
        };
        self.step = Step::LookBack(trail);
        if let Some(report) = &mut self.report {
            (report.accepted, report.walk_coefficients, report.walk) = (accepted, walk_coefficients, walk);
            report.seconds.walk = began.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// PPO on the mixture that xNES now believes in. A walk that fails leaves search policy and rewards where they were.
    /// Returns also what the search policy was on the way, if that is to be evaluated.
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
        let mixer = RewardMixer::new(coefficients, &shaping, config.environments as usize);
        let factory = turn.trainers(Part::Walk);
        let trainer = factory.trainer(self.state.agent.clone(), 0..config.environments);
        let phase = Phase::new(vec![trainer], vec![mixer], config.intermediate_policies);
        let PhaseOutput { agents, intermediate, stats } =
            phase.train(&factory, config.walk_iterations, turn.rewards, turn.archives)?;
        *turn.env_steps += stats.steps;
        self.state.agent = agents.into_iter().next().unwrap_or_else(|| self.state.agent.clone());
        Ok((stats, intermediate))
    }

    /// There is nothing to be found here: a new distribution, and an elite as search policy, behind its own normaliser.
    fn restart(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        let mut draws = turn.draws("restart");
        let PpgaState { agent, xnes, restarts, stall, restart_targets, .. } = &mut self.state;
        let (archives, config) = (turn.archives, &turn.setup.config);
        let target = match config.curiosity.seeks_frontier() {
            true => RestartTarget::draw(archives, &config.curiosity, restart_targets, &mut draws),
            false => None,
        };
        restart_targets.extend(target.as_ref().map(|target| target.cell));
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

/// What PPGA did in an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct PpgaReport {
    /// Branches that the soft archive accepted.
    pub accepted: usize,
    /// Restarts since the beginning.
    pub restarts: u64,
    /// How the search policy did before it walked.
    pub search_policy: SearchPolicy,
    /// What the walk was to be paid for: weights of the objective and of each measure.
    pub walk_coefficients: Vec<f64>,
    /// Training of the copy that serves the objective.
    pub gradients: PhaseStats,
    /// Training of the walk; `None` if the search restarted instead. A walk that failed has left the search policy and
    /// the reward model where they were; what the branches found is kept.
    pub walk: Option<Result<PhaseStats, TrainingError>>,
    /// Where its time went.
    pub seconds: PpgaSeconds,
}

/// Where the time of PPGA went.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PpgaSeconds {
    /// Evaluating the search policy.
    pub evaluation: f64,
    /// Gradients, and making branches.
    pub gradients: f64,
    /// Walk.
    pub walk: f64,
}

/// How the search policy does.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPolicy {
    /// Mean true return.
    pub objective: f64,
    /// Mean length of its episodes.
    pub length: f64,
}

/// Policies that an iteration tries: the search policy, branches, and intermediate policies of one copy for the objective, of
/// one for each of the measures and of the walk.
pub(super) fn candidates(config: &SearchConfig, measures: usize) -> u64 {
    let (n1, n2) = (u64::from(config.gradient_iterations), u64::from(config.walk_iterations));
    let intermediate = if config.intermediate_policies { (measures as u64 + 1) * n1 + n2 } else { 0 };
    1 + u64::from(config.branches) + intermediate
}

impl Emitter for Ppga {
    fn name(&self) -> &'static str {
        "ppga"
    }

    /// Collects statistics of observations, so that the first copies see as later ones do.
    fn start(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        let environments = turn.setup.config.environments;
        let mut trainer = turn.trainers(Part::Warmup).trainer(self.state.agent.clone(), 0..environments);
        trainer.observe();
        *turn.env_steps += trainer.steps_per_iteration() as u64;
        self.state.agent = trainer.agent;
        Ok(())
    }

    fn ask(&mut self, turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError> {
        match &mut self.step {
            Step::Branch => self.branch(turn),
            Step::LookBack(trail) if !trail.is_empty() => Ok(vec![Batch::New(std::mem::take(trail))]),
            Step::Learn { .. } | Step::LookBack(_) => Ok(Vec::new()),
        }
    }

    fn tell(&mut self, turn: &mut Turn<'_>, told: &[Told]) -> Result<(), SearchError> {
        match (std::mem::replace(&mut self.step, Step::LookBack(Vec::new())), told) {
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
        *self = Ppga { state, step: Step::Branch, restart: false, report: None };
        Ok(())
    }
}

impl PpgaState {
    /// The state in the record of an emitter of this kind.
    pub fn from_record(record: &[u8]) -> Result<PpgaState, SearchError> {
        decode("ppga", record)
    }
}

/// The mean of xNES, with |c₀| in place of c₀: the paper states the goal of the search policy so, and a walk is never
/// paid for doing badly.
fn walk_coefficients(xnes: &Xnes) -> Vec<f64> {
    let mut coefficients = xnes.mean().to_vec();
    coefficients[0] = coefficients[0].abs();
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_is_never_paid_for_doing_badly() {
        let xnes = Xnes::new(vec![-0.5, -1.5, 2.0], 1.0).unwrap();
        assert_eq!(walk_coefficients(&xnes), [0.5, -1.5, 2.0]);
    }
}
