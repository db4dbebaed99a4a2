//! Algorithm 1: one iteration of the search.

use std::sync::Arc;
use std::time::Instant;

use magpie_envs::Environment;
use magpie_learn::{Agent, Networks, Policy};
use magpie_nn::adam::Adam;
use magpie_nn::init;
use magpie_nn::normaliser::Running;
use magpie_qd::{ArchivePair, Candidate, Insertion, Metrics, Provenance, Xnes};
use magpie_random::Stream;
use magpie_rewards::Record;
use serde::{Deserialize, Serialize};

use crate::blend::Blend;
use crate::branches::{Outing, elite_policy, normaliser_len};
use crate::config::SearchConfig;
use crate::curiosity::Curiosity;
use crate::error::{SearchError, Trouble};
use crate::frontier::Outpost;
use crate::gradients::Gradients;
use crate::growth::Growth;
use crate::novelty::Chart;
use crate::objective::Objective;
use crate::phase::{Course, Finish, Gym, Phase};
use crate::report::{Report, SearchPolicy, Seconds};
use crate::steering::Steering;

/// A critic with its optimiser's memory and the units that it speaks in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Critic {
    parameters: Vec<f32>,
    adam: Adam,
    returns: Running,
}

impl Critic {
    pub(crate) fn new(networks: &Networks, seed: u64, who: u32) -> Critic {
        let mut draws = Stream::new(seed, "initial critics").draws(who, 0);
        let parameters = init::orthogonal(&networks.critic, std::f32::consts::SQRT_2, 1.0, &mut draws);
        Critic { adam: Adam::new(parameters.len()), parameters, returns: Running::new(1) }
    }

    pub(crate) fn of(agent: Agent) -> Critic {
        let Agent { learner, returns, .. } = agent;
        Critic { parameters: learner.critic, adam: learner.critic_adam, returns }
    }

    /// This critic beside the policy of `agent`.
    pub(crate) fn with_policy_of(&self, agent: &Agent) -> Agent {
        let mut copy = agent.clone();
        copy.learner.critic.clone_from(&self.parameters);
        copy.learner.critic_adam = self.adam.clone();
        copy.returns = self.returns.clone();
        copy
    }
}

/// Everything that lives from one iteration to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Iterations made.
    pub iteration: u64,
    /// Environment steps made, evaluation included.
    pub env_steps: u64,
    /// Restarts made.
    pub restarts: u64,
    /// Iterations that failed and were tried again.
    pub failures: u64,
    /// The search policy, with the critic of the walk.
    pub agent: Agent,
    /// Critics of the gradient phase: of the objective, then of each measure.
    pub critics: Vec<Critic>,
    /// The distribution of coefficients.
    pub xnes: Xnes,
    /// Both archives.
    pub archives: ArchivePair,
    /// How fast the archive has been growing.
    pub growth: Growth,
    /// Cells at the frontier from which the search has set out, in order.
    pub outposts: Vec<usize>,
    /// How many episodes that served the objective were judged to lie in each cell; empty unless curiosity asks.
    pub visits: Vec<u32>,
    /// The reward model, if it learns.
    pub reward: Option<Record>,
}

impl State {
    /// What is new to curiosity now.
    fn chart(&self, curiosity: &Curiosity) -> Chart<'_> {
        Chart::new(curiosity, &self.archives, &self.visits)
    }

    fn count(&mut self, visited: &[usize]) {
        for &cell in visited {
            self.visits[cell] = self.visits[cell].saturating_add(1);
        }
    }
}

/// Which environments and noise a part of an iteration sees.
#[derive(Clone, Copy)]
enum Part {
    Warmup,
    Gradients,
    Evaluation,
    Walk,
    Walked,
    Branches,
}

/// A search under way.
pub struct Search {
    env: Arc<Environment>,
    networks: Networks,
    config: SearchConfig,
    seed: u64,
    objective: Objective,
    state: State,
}

impl Search {
    /// A search at its beginning.
    pub fn new(
        env: Arc<Environment>,
        config: SearchConfig,
        objective: Objective,
        seed: u64,
    ) -> Result<Search, SearchError> {
        let measures = env.measure_size();
        config.check(measures)?;
        let networks = config.networks(&env)?;
        let mut draws = Stream::new(seed, "xnes start").draws(0, 0);
        let state = State {
            iteration: 0,
            env_steps: 0,
            restarts: 0,
            failures: 0,
            agent: Agent::new(&networks, seed),
            critics: (0..=measures as u32).map(|who| Critic::new(&networks, seed, who)).collect(),
            xnes: Xnes::start(measures, config.sigma0, &mut draws)?,
            archives: ArchivePair::new(
                config.grid(&env)?,
                config.acceptance(),
                networks.policy_len(),
                normaliser_len(env.observation_size()),
            )?,
            growth: Growth::from(0.0),
            outposts: Vec::new(),
            visits: vec![0; config.counted_cells(&env)?],
            reward: objective.save()?,
        };
        let mut search = Search { env, networks, config, seed, objective, state };
        search.look_around();
        Ok(search)
    }

    /// A search that goes on from a state of one with the same configuration.
    pub fn resume(
        env: Arc<Environment>,
        config: SearchConfig,
        mut objective: Objective,
        seed: u64,
        state: State,
    ) -> Result<Search, SearchError> {
        config.check(env.measure_size())?;
        let networks = config.networks(&env)?;
        let fits = [
            (state.agent.learner.policy.len() == networks.policy_len(), "size of the policy"),
            (state.agent.learner.critic.len() == networks.critic.parameters(), "size of the critic"),
            (state.critics.len() == env.measure_size() + 1, "number of critics"),
            (
                state.critics.iter().all(|critic| critic.parameters.len() == networks.critic.parameters()),
                "size of the critics",
            ),
            (state.xnes.dim() == env.measure_size() + 1, "dimensions of xNES"),
            (*state.archives.cells() == config.grid(&env)?.into(), "cells of the archive"),
            (state.visits.len() == config.counted_cells(&env)?, "number of cells with visits"),
            (
                state.outposts.iter().all(|&cell| cell < state.archives.cells().count()),
                "cells from which it has set out",
            ),
            (state.archives.soft().acceptance() == config.acceptance(), "rule of the soft archive"),
        ];
        if let Some((_, what)) = fits.into_iter().find(|(fits, _)| !fits) {
            return Err(SearchError::Foreign(what));
        }
        objective.restore(state.reward.as_ref())?;
        Ok(Search { env, networks, config, seed, objective, state })
    }

    /// All that must be kept to resume.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What is searched with.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    /// Of the result archive.
    pub fn metrics(&self) -> Metrics {
        self.state.archives.metrics(self.config.qd_offset())
    }

    /// Statistics of observations before the first gradient, so that the first copies see as later ones do.
    fn look_around(&mut self) {
        let mut trainer =
            self.gym(Part::Warmup).trainer(self.state.agent.clone(), 0..self.config.environments);
        trainer.observe();
        self.state.env_steps += trainer.steps_per_iteration() as u64;
        self.state.agent = trainer.agent;
    }

    /// One iteration. If the gradients fail, the state is that before the iteration, and the next attempt sees other
    /// environments; a failed walk is part of the report.
    pub fn iterate(&mut self) -> Result<Report, SearchError> {
        let mut clock = Clock::start();
        let mut seconds = Seconds::default();
        let agent = self.search_agent();
        let (alone, steps) = self.try_out(vec![agent.policy()], Part::Evaluation);
        seconds.evaluation = clock.lap();

        let mut gradients = self.gradients(&agent, &alone[0].measures)?;
        // Not before: if the gradients fail, this iteration has not been.
        self.state.env_steps += steps;
        seconds.gradients = clock.lap();

        let coefficients = self.coefficients();
        let outings = self.try_branches(&agent.policy(), &mut gradients, &coefficients);
        seconds.evaluation += clock.lap();

        let (insertion, others) = self.insert(&alone, &outings)?;
        let told = self.state.xnes.tell(&coefficients, &insertion.values());
        let walk_coefficients = walk_coefficients(&self.state.xnes);
        self.state.agent = agent;
        seconds.archive = clock.lap();

        // Nothing accepted, a standstill, or a distribution that has collapsed: start elsewhere. A walk before that would
        // be thrown away, unless there is no elite to start from.
        let stalled = self.has_stalled();
        let restart = insertion.accepted() == 0 || told.is_err() || stalled;
        let (walk, trail) = match restart && !self.state.archives.soft().is_empty() {
            true => (None, Vec::new()),
            false => match self.walk() {
                Ok((course, trail)) => (Some(Ok(course)), trail),
                Err(trouble) => (Some(Err(trouble)), Vec::new()),
            },
        };
        seconds.walk = clock.lap();
        let on_the_walk = self.look_back(trail, outings.len())?;
        seconds.evaluation += clock.lap();
        if restart {
            self.restart()?;
        }
        self.state.iteration += 1;

        let search_policy = &alone[0];
        let [alone, on_the_way] = others;
        let others = [alone, on_the_way, on_the_walk];
        Ok(Report {
            iteration: self.state.iteration,
            metrics: self.metrics(),
            new_cells: insertion.new_cells + others.iter().map(|other| other.new_cells).sum::<usize>(),
            accepted: insertion.accepted(),
            refused: insertion.refused() + others.iter().map(Insertion::refused).sum::<usize>(),
            restarts: self.state.restarts,
            env_steps: self.state.env_steps,
            search_policy: SearchPolicy { objective: search_policy.objective, length: search_policy.length },
            walk_coefficients,
            gradients: gradients.course,
            walk,
            seconds,
        })
    }

    /// The search policy as the iteration starts.
    fn search_agent(&self) -> Agent {
        let mut agent = self.state.agent.clone();
        if self.config.reset_log_std {
            agent.learner.policy[self.networks.actor.parameters()..].fill(0.0);
        }
        agent
    }

    /// ∇objective and ∇measures, by training copies of the search policy.
    fn gradients(&mut self, agent: &Agent, measures: &[f64]) -> Result<Gradients, SearchError> {
        let mut critics = self.state.critics.clone();
        let gym = self.gym(Part::Gradients);
        let chart = self.state.chart(&self.config.curiosity);
        let gradients = Gradients::estimate(
            &gym,
            &self.config,
            agent,
            measures,
            &mut critics,
            &chart,
            &mut self.objective,
        );
        if gradients.is_err() {
            self.objective.restore(self.state.reward.as_ref())?;
            self.state.failures += 1;
        }
        let gradients = gradients.map_err(SearchError::during("gradients"))?;
        self.state.reward = self.objective.save()?;
        self.state.critics = critics;
        self.state.count(&gradients.visited);
        self.state.env_steps += gradients.course.steps;
        Ok(gradients)
    }

    /// One row for each branch.
    fn coefficients(&self) -> Vec<f64> {
        let mut draws = Stream::new(self.seed, "coefficients").draws(0, self.state.iteration);
        self.state.xnes.ask(self.config.branches as usize, &mut draws)
    }

    /// Whole episodes of each policy; returns also the steps they took.
    fn try_out(&self, policies: Vec<Policy>, part: Part) -> (Vec<Outing>, u64) {
        Outing::of(&self.env, &self.networks, policies, self.config.episodes, self.seed_of(part))
    }

    /// Whole episodes of each branch, then of each waypoint.
    fn try_branches(
        &mut self,
        search_policy: &Policy,
        gradients: &mut Gradients,
        coefficients: &[f64],
    ) -> Vec<Outing> {
        let waypoints = std::mem::take(&mut gradients.waypoints);
        let branch = |c: &[f64]| {
            let mut policy = search_policy.clone();
            gradients.branch(&mut policy.parameters, c);
            policy
        };
        let branches = coefficients.chunks(self.state.xnes.dim()).map(branch);
        let (outings, steps) = self.try_out(branches.chain(waypoints).collect(), Part::Branches);
        self.state.env_steps += steps;
        outings
    }

    /// Offers the search policy alone, then all branches as one batch, then all waypoints; xNES learns from the
    /// branches. Returns what became of these and of the others.
    fn insert(
        &mut self,
        alone: &[Outing],
        others: &[Outing],
    ) -> Result<(Insertion, [Insertion; 2]), SearchError> {
        let (branches, waypoints) = others.split_at(self.config.branches as usize);
        // Branches are counted from 0, and waypoints on from them; the search policy itself has no number.
        let (alone, tried) = (self.offer(alone, None)?, self.offer(branches, Some(0))?);
        Ok((tried, [alone, self.offer(waypoints, Some(branches.len()))?]))
    }

    /// Tries what the search policy was on its walk, and offers it as one batch numbered from `first`.
    fn look_back(&mut self, trail: Vec<Policy>, first: usize) -> Result<Insertion, SearchError> {
        let (outings, steps) = self.try_out(trail, Part::Walked);
        self.state.env_steps += steps;
        self.offer(&outings, Some(first))
    }

    /// Offers policies to both archives as one batch.
    fn offer(&mut self, outings: &[Outing], first: Option<usize>) -> Result<Insertion, SearchError> {
        // Counted from 1, as in reports.
        let iteration = self.state.iteration + 1;
        let provenance = |i| Provenance { iteration, branch: first.map(|first| (first + i) as u32) };
        let candidates: Vec<Candidate<'_>> =
            outings.iter().enumerate().map(|(i, outing)| outing.candidate(provenance(i))).collect();
        Ok(self.state.archives.add(&candidates)?)
    }

    /// PPO on the mixture that xNES now believes in. Returns also what the search policy was on the way, if that is to
    /// be tried.
    fn walk(&mut self) -> Result<(Course, Vec<Policy>), Trouble> {
        let walked = self.try_walk();
        match &walked {
            Ok(_) => self.state.reward = self.objective.save()?,
            Err(_) => self.objective.restore(self.state.reward.as_ref())?,
        }
        walked
    }

    fn try_walk(&mut self) -> Result<(Course, Vec<Policy>), Trouble> {
        let coefficients = walk_coefficients(&self.state.xnes).into_iter().map(|c| c as f32).collect();
        let environments = self.config.environments;
        let chart = self.state.chart(&self.config.curiosity);
        let steering = Steering::new(&self.env, self.config.inward);
        let blend = Blend::new(coefficients, &steering, environments as usize, self.config.curiosity, &chart);
        let gym = self.gym(Part::Walk);
        let trainer = gym.trainer(self.state.agent.clone(), 0..environments);
        let mut phase = Phase::new(vec![trainer], vec![blend]);
        if self.config.waypoints {
            phase.leave_trail();
        }
        let course = phase.train(&gym, self.config.walk_iterations, &mut self.objective)?;
        let Finish { agents, trail, visited } = phase.finish();
        self.state.count(&visited);
        self.state.env_steps += course.steps;
        self.state.agent = agents.into_iter().next().unwrap_or_else(|| self.state.agent.clone());
        Ok((course, trail))
    }

    /// Whether the archive grows so slowly that the search had better go on elsewhere.
    fn has_stalled(&mut self) -> bool {
        let (score, iterations) = (self.metrics().qd_score_offset, self.state.iteration + 1);
        self.state.growth.has_stalled(score, iterations, self.config.patience)
    }

    /// There is nothing to be found here: a new distribution, and another elite as search policy, behind its own
    /// normaliser. It is a random one or, if the search is curious, one at the frontier, and then the distribution leads
    /// beyond it.
    fn restart(&mut self) -> Result<(), SearchError> {
        let mut draws = Stream::new(self.seed, "restart").draws(0, self.state.iteration);
        let State { agent, xnes, archives, restarts, outposts, .. } = &mut self.state;
        let curiosity = &self.config.curiosity;
        let outpost = match curiosity.seeks_frontier() {
            true => Outpost::draw(archives, curiosity, outposts, &mut draws),
            false => None,
        };
        outposts.extend(outpost.as_ref().map(|outpost| outpost.cell));
        let elite = match &outpost {
            Some(outpost) => archives.elite(outpost.cell),
            None => archives.random_elite(&mut draws),
        };
        if let Some(elite) = elite {
            let policy = elite_policy(&elite);
            agent.learner.policy = policy.parameters;
            agent.observations = policy.normaliser;
        }
        *xnes = Xnes::start(self.env.measure_size(), self.config.sigma0, &mut draws)?;
        if let Some(heading) = outpost.and_then(|outpost| outpost.heading) {
            *xnes = Xnes::new([&xnes.mean()[..1], &heading].concat(), self.config.sigma0)?;
        }
        *restarts += 1;
        self.state.growth = Growth::from(self.metrics().qd_score_offset);
        Ok(())
    }

    fn gym(&self, part: Part) -> Gym {
        Gym {
            env: Arc::clone(&self.env),
            networks: self.networks.clone(),
            config: self.config.train.clone(),
            seed: self.seed_of(part),
        }
    }

    /// Environments and action noise of a part of this iteration: nothing is met twice, not even after a failure, which
    /// would only happen again.
    fn seed_of(&self, part: Part) -> u64 {
        let who = part as u32 + 16 * self.state.failures as u32;
        let mut draws = Stream::new(self.seed, "parts of iterations").draws(who, self.state.iteration);
        u64::from(draws.bits()) << 32 | u64::from(draws.bits())
    }
}

/// The mean of xNES, with |c₀| in place of c₀: the paper states the goal of the search policy so, and a walk is never
/// paid for doing badly.
fn walk_coefficients(xnes: &Xnes) -> Vec<f64> {
    let mut coefficients = xnes.mean().to_vec();
    coefficients[0] = coefficients[0].abs();
    coefficients
}

/// Time since the last lap.
struct Clock(Instant);

impl Clock {
    fn start() -> Clock {
        Clock(Instant::now())
    }

    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        (now - std::mem::replace(&mut self.0, now)).as_secs_f64()
    }
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
