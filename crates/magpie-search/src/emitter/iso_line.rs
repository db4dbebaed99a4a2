//! Iso-line variation (Vassiliades & Mouret, 2018): children of two elites, on the line between them and around it.
//!
//! child = a + σ_iso · N(0, I) + σ_line · N(0, 1) · (b − a)
//!
//! An elite acts on observations that its own normaliser has scaled, so the weights of two elites mean different things. b
//! is therefore brought into the frame of a first: with x_b = (x_a σ_a + μ_a − μ_b) / σ_b, its first layer W, c becomes
//! W σ_a/σ_b, c + W (μ_a − μ_b)/σ_b, and acts as before (where observations are not clipped). The child has the normaliser
//! of a, and its log σ, which is no part of the line.

use magpie_learn::{Agent, Networks, Policy};
use magpie_nn::normaliser::{Running, VARIANCE_FLOOR};
use magpie_random::{Draws, Stream};
use magpie_settings::settings;
use rayon::prelude::*;

use super::{Batch, Emitter, Setup, Turn};
use crate::bonus::Spacing;
use crate::error::SearchError;
use crate::evaluator::elite_policy;

settings! {
    /// Children of two elites.
    #[derive(Copy)]
    pub struct IsoLineConfig {
        /// Children in an iteration.
        children: u32 = 300, in 1..=10_000, since "0.1.0" before 300;
        /// σ_iso: spread around the line, of each weight.
        sigma_iso: f64 = 0.01, in 0.0..=100.0, since "0.1.0" before 0.01;
        /// σ_line: spread along the line, in lengths of the way between the parents.
        sigma_line: f64 = 0.2, in 0.0..=100.0, since "0.1.0" before 0.2;
        /// How far apart parents may be along each axis.
        reach: f64 = 8.0, in 0.0.., unit "cells", since "0.1.0" before 8.0;
    }
}

/// The emitter. It carries nothing from one iteration to the next.
pub(super) struct IsoLine {
    config: IsoLineConfig,
    /// Whether it has proposed in this iteration.
    done: bool,
}

impl IsoLine {
    pub fn new(config: IsoLineConfig) -> IsoLine {
        IsoLine { config, done: false }
    }

    /// Pairs of elites, as cells: any one, and another at most `reach` cells away from it along each axis (itself if there
    /// is none).
    fn parents(&self, turn: &Turn<'_>) -> Vec<[usize; 2]> {
        let cells: Vec<usize> = turn.archives.result().entries().map(|(cell, _)| cell).collect();
        let spacing = Spacing::of(turn.archives.cells());
        let positions: Vec<Vec<f64>> = cells.iter().map(|&cell| spacing.position(cell)).collect();
        let mut draws = turn.draws("iso-line parents");
        let pick = |draws: &mut Draws, n: usize| draws.below(n as u32) as usize;
        let pair = |_| {
            let first = pick(&mut draws, cells.len());
            let near = |&other: &usize| {
                let apart = positions[first].iter().zip(&positions[other]).map(|(a, b)| (a - b).abs());
                other != first && apart.fold(0.0, f64::max) <= self.config.reach
            };
            let others: Vec<usize> = (0..cells.len()).filter(near).collect();
            let second = if others.is_empty() { first } else { others[pick(&mut draws, others.len())] };
            [cells[first], cells[second]]
        };
        (0..self.config.children).map(pair).collect()
    }

    fn children(&self, turn: &Turn<'_>) -> Vec<Policy> {
        let (archives, networks) = (turn.archives, &turn.setup.networks);
        let stream = Stream::new(turn.seed, "iso-line noise");
        let child = |(i, [a, b]): (usize, [usize; 2])| {
            let parent = |cell| archives.elite(cell).map(|elite| elite_policy(&elite));
            let (a, b) = (parent(a)?, parent(b)?);
            Some(self.child(networks, a, &b, &mut stream.draws(i as u32, turn.iteration)))
        };
        self.parents(turn).into_par_iter().enumerate().filter_map(child).collect()
    }

    fn child(&self, networks: &Networks, mut a: Policy, b: &Policy, draws: &mut Draws) -> Policy {
        let weights = networks.actor.parameters();
        let b = in_frame_of(&a.normaliser, b, networks);
        let along = self.config.sigma_line * f64::from(draws.normal());
        let sigma = self.config.sigma_iso as f32;
        for (pair, to) in a.parameters[..weights].chunks_mut(2).zip(b[..weights].chunks(2)) {
            let noise = draws.normal_pair();
            for ((parameter, to), noise) in pair.iter_mut().zip(to).zip(noise) {
                *parameter += sigma * noise + along as f32 * (to - *parameter);
            }
        }
        a
    }

    /// For an empty archive: policies that have learned nothing.
    fn beginners(&self, turn: &Turn<'_>) -> Vec<Policy> {
        let mut draws = turn.draws("iso-line beginners");
        let seeds: Vec<u64> = (0..self.config.children).map(|_| draws.bits().into()).collect();
        seeds.into_par_iter().map(|seed| Agent::new(&turn.setup.networks, seed).policy()).collect()
    }
}

/// Parameters that act behind `normaliser` as those of `policy` do behind its own.
fn in_frame_of(normaliser: &Running, policy: &Policy, networks: &Networks) -> Vec<f32> {
    let mut parameters = policy.parameters.clone();
    let Some(first) = networks.actor.layers().next() else { return parameters };
    let spread = |variance: &f64| (variance + VARIANCE_FLOOR).sqrt();
    let (here, there) = (normaliser, &policy.normaliser);
    let scale: Vec<f64> =
        here.variance().iter().zip(there.variance()).map(|(a, b)| spread(a) / spread(b)).collect();
    let shift: Vec<f64> = here
        .mean()
        .iter()
        .zip(there.mean())
        .zip(there.variance())
        .map(|((a, b), variance)| (a - b) / spread(variance))
        .collect();
    let (weight, bias) = parameters[..first.bias.end].split_at_mut(first.bias.start);
    for (row, bias) in weight[first.weight].chunks_exact_mut(first.inputs).zip(bias) {
        let moved: f64 = row.iter().zip(&shift).map(|(w, s)| f64::from(*w) * s).sum();
        *bias = (f64::from(*bias) + moved) as f32;
        row.iter_mut().zip(&scale).for_each(|(w, s)| *w = (f64::from(*w) * s) as f32);
    }
    parameters
}

impl Emitter for IsoLine {
    fn name(&self) -> &'static str {
        "iso_line"
    }

    fn ask(&mut self, turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(Vec::new());
        }
        let policies = match turn.archives.result().is_empty() {
            true => self.beginners(turn),
            false => self.children(turn),
        };
        Ok(vec![Batch::New(policies)])
    }

    fn end(&mut self, _turn: &mut Turn<'_>) -> Result<(), SearchError> {
        self.done = false;
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, SearchError> {
        Ok(Vec::new())
    }

    fn restore(&mut self, _setup: &Setup, record: &[u8]) -> Result<(), SearchError> {
        self.done = false;
        match record {
            [] => Ok(()),
            _ => Err(SearchError::Foreign("state of an iso-line emitter")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_nn::{Network, Trace};
    use magpie_simd::{Isa, Pack};

    fn policy(networks: &Networks, seed: u64, mean: f64, variance: f64) -> Policy {
        let mut policy = Agent::new(networks, seed).policy();
        // The last layer of a beginner is next to nothing.
        policy.parameters.iter_mut().for_each(|p| *p *= 3.0);
        let width = networks.actor.inputs();
        let along = |from: f64, step: f64| (0..width).map(|i| from + step * i as f64).collect();
        policy.normaliser = Running::from_parts(along(mean, 0.3), along(variance, 0.5), 100.0);
        policy
    }

    /// Mean action of parameters behind a normaliser.
    fn act(networks: &Networks, parameters: &[f32], normaliser: &Running, raw: &[f32]) -> Vec<f32> {
        let isa = Isa::best();
        let mut network = Network::new(&networks.actor, isa, false);
        network.load(&parameters[..networks.actor.parameters()]);
        let raw: Vec<Pack> = raw.iter().map(|&x| Pack([x; 16])).collect();
        let mut normal = vec![Pack::default(); raw.len()];
        normaliser.freeze(10.0).panels(isa, &raw, &mut normal);
        let mut trace = Trace::new(&networks.actor, 1);
        network.forward(&normal, &mut trace).iter().map(|pack| pack.0[0]).collect()
    }

    #[test]
    fn in_another_frame_a_policy_acts_as_before() {
        let networks = Networks::paper(3, 2).unwrap();
        let (a, b) = (policy(&networks, 1, -1.0, 0.2), policy(&networks, 2, 0.5, 3.0));
        let moved = in_frame_of(&a.normaliser, &b, &networks);
        for raw in [[0.0, 0.5, -1.0], [1.5, -0.3, 0.7]] {
            let before = act(&networks, &b.parameters, &b.normaliser, &raw);
            let after = act(&networks, &moved, &a.normaliser, &raw);
            let unmoved = act(&networks, &b.parameters, &a.normaliser, &raw);
            let apart = |x: &[f32]| x.iter().zip(&before).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
            assert!(apart(&after) < 1e-5 && apart(&unmoved) > 1e-3, "{before:?} {after:?} {unmoved:?}");
        }
    }

    #[test]
    fn children_lie_on_the_line_and_around_it() {
        let networks = Networks::paper(3, 2).unwrap();
        let (a, b) = (policy(&networks, 1, -1.0, 0.2), policy(&networks, 2, 0.5, 3.0));
        let config = IsoLineConfig { children: 1, sigma_iso: 0.0, sigma_line: 0.5, reach: 1.0 };
        let line = IsoLine::new(config).child(&networks, a.clone(), &b, &mut Stream::new(1, "x").draws(0, 0));
        let to = in_frame_of(&a.normaliser, &b, &networks);
        let share = (line.parameters[0] - a.parameters[0]) / (to[0] - a.parameters[0]);
        assert!(share.abs() > 1e-3);
        for ((child, a), to) in line.parameters.iter().zip(&a.parameters).zip(&to) {
            assert!((child - (a + share * (to - a))).abs() < 1e-4);
        }
        let weights = networks.actor.parameters();
        assert_eq!(line.parameters[weights..], a.parameters[weights..]);
        assert_eq!(line.normaliser, a.normaliser);
        let config = IsoLineConfig { sigma_iso: 0.1, sigma_line: 0.0, ..config };
        let around =
            IsoLine::new(config).child(&networks, a.clone(), &b, &mut Stream::new(1, "x").draws(0, 0));
        let moves = around.parameters[..weights].iter().zip(&a.parameters).map(|(c, a)| f64::from(c - a));
        let spread = (moves.map(|m| m * m).sum::<f64>() / weights as f64).sqrt();
        assert!((spread - 0.1).abs() < 0.002, "{spread}");
    }
}
