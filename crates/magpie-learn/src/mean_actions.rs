//! The mean actions of a policy for given observations.

use magpie_nn::rows::gather;
use magpie_nn::{Network, Trace};
use magpie_simd::{Isa, LANES, Pack};

use crate::agent::{Networks, OBSERVATION_LIMIT, Policy};

/// Rows that go through the network together.
const BLOCK: usize = 64;

impl Policy {
    /// Mean actions for raw observations, one row each, before the environment clips them: the bits of
    /// [`Actions::Mean`](crate::Actions::Mean) in an evaluation.
    pub fn mean_actions(&self, networks: &Networks, observations: &[f32]) -> Vec<f32> {
        let isa = Isa::best();
        let (obs, act) = (networks.actor.inputs(), networks.actor.outputs());
        let mut network = Network::new(&networks.actor, isa, false);
        network.load(&self.parameters[..networks.actor.parameters()]);
        let normaliser = self.normaliser.freeze(OBSERVATION_LIMIT);
        let panels = BLOCK / LANES;
        let (mut raw, mut normal) =
            (vec![Pack::default(); panels * obs], vec![Pack::default(); panels * obs]);
        let mut trace = Trace::new(&networks.actor, panels);
        let rows: Vec<u32> = (0..(observations.len() / obs) as u32).collect();
        let mut actions = vec![0.0; rows.len() * act];
        for (rows, actions) in rows.chunks(BLOCK).zip(actions.chunks_mut(BLOCK * act)) {
            let panels = rows.len().div_ceil(LANES);
            let (raw, normal) = (&mut raw[..panels * obs], &mut normal[..panels * obs]);
            gather(isa, observations, obs, rows, raw);
            normaliser.panels(isa, raw, normal);
            let means = network.forward(normal, &mut trace);
            for (mean, actions) in means.chunks(act).zip(actions.chunks_mut(LANES * act)) {
                for (lane, row) in actions.chunks_exact_mut(act).enumerate() {
                    row.iter_mut().zip(mean).for_each(|(action, pack)| *action = pack.0[lane]);
                }
            }
        }
        actions
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use magpie_envs::{Batch, Environment, Options};

    use super::*;
    use crate::agent::Agent;
    use crate::evaluate::evaluate;
    use crate::policy_runner::Actions;

    /// Steps with mean actions give the returns of an evaluation, bit for bit.
    #[test]
    fn mean_actions_are_those_of_an_evaluation() {
        let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
        let networks = Networks::paper(env.observation_size(), env.action_size()).unwrap();
        let policy = Agent::new(&networks, 3).policy();
        let episodes = 70;
        let found = &evaluate(&env, &networks, &[&policy], episodes, Actions::Mean, 4)[0];
        let mut batch = Batch::new(Arc::clone(&env), 0..episodes, 4);
        let mut rows = batch.rows();
        batch.reset(&mut rows);
        let mut returns = vec![0.0; episodes as usize];
        let mut done = vec![false; episodes as usize];
        while done.contains(&false) {
            batch.step(&policy.mean_actions(&networks, &rows.observation), &mut rows);
            for i in 0..done.len() {
                if !done[i] {
                    returns[i] += f64::from(rows.reward[i]);
                    done[i] = rows.terminated[i] || rows.truncated[i];
                }
            }
        }
        assert_eq!(returns, found.returns);
    }
}
