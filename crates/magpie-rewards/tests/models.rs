//! All models through the trait: they learn, do not depend on threads, and continue where they stopped.

use std::ops::ControlFlow;

use magpie_nn::normaliser::{Frozen, Moments, RunningMeanStd};
use magpie_random::Stream;
use magpie_rewards::{
    Inputs, ModelName, RewardConfig, RewardError, RewardModel, Sizes, Transitions, airl::AirlInputs,
    airl::AirlReward, build,
};
use magpie_settings::{Method, Settings};

const SIZES: Sizes = Sizes { observation: 6, action: 2 };

/// Rows of an artificial robot: the expert's observations and actions follow a cycle; the other one moves at random.
struct Data {
    observations: Vec<f32>,
    actions: Vec<f32>,
    next_observations: Vec<f32>,
    terminated: Vec<bool>,
    log_probs: Vec<f32>,
    rewards: Vec<f32>,
    lost: Vec<u32>,
}

impl Data {
    fn new(rows: usize, expert: bool, seed: u64) -> Data {
        let mut draws = Stream::new(seed, "data").draws(u32::from(expert), 0);
        let mut data = Data {
            observations: vec![],
            actions: vec![],
            next_observations: vec![],
            terminated: vec![],
            log_probs: vec![],
            rewards: vec![],
            lost: vec![],
        };
        for row in 0..rows {
            let phase = draws.uniform(0.0, std::f32::consts::TAU);
            let gait =
                |phase: f32| -> [f32; 6] { std::array::from_fn(|i| 3.0 + 2.0 * (phase + i as f32).sin()) };
            let (s, a, next): ([f32; 6], [f32; 2], [f32; 6]) = match expert {
                true => (gait(phase), [phase.sin(), phase.cos()], gait(phase + 0.1)),
                false => (
                    std::array::from_fn(|_| 3.0 + 1.5 * draws.normal()),
                    std::array::from_fn(|_| draws.uniform(-1.0, 1.0)),
                    std::array::from_fn(|_| 3.0 + 1.5 * draws.normal()),
                ),
            };
            data.observations.extend(s);
            data.actions.extend(a);
            data.next_observations.extend(next);
            data.terminated.push(row % 50 == 49);
            data.lost.push(if row % 50 == 49 { 20 } else { 0 });
            data.log_probs.push(-1.4);
            data.rewards.push(s[0]);
        }
        data
    }

    fn transitions(&self) -> Transitions<'_> {
        Transitions {
            observations: &self.observations,
            actions: &self.actions,
            next_observations: &self.next_observations,
            terminated: &self.terminated,
            log_probs: &self.log_probs,
            rewards: &self.rewards,
            lost: &self.lost,
        }
    }

    fn normaliser(&self) -> Frozen {
        let mut moments = Moments::new(6);
        moments.add_rows(&self.observations);
        let mut running = RunningMeanStd::new(6);
        running.update(&moments);
        running.freeze(10.0)
    }
}

/// The paper's configuration, but with a short preparation.
const GAMMA: f32 = 0.99;

fn config(model: ModelName) -> RewardConfig {
    let mut config = RewardConfig { model, ..RewardConfig::default() };
    config.giril.epochs = 60;
    config
}

/// Every model as either method has it, and with all that a discriminator can see.
fn variants() -> Vec<RewardConfig> {
    let short = |config: RewardConfig| {
        let mut config = config;
        config.giril.epochs = 60;
        config
    };
    let of = |method, model| short(RewardConfig { model, ..RewardConfig::of(method) });
    let methods = ModelName::ALL.into_iter().flat_map(|model| Method::ALL.map(|method| of(method, model)));
    let seen = [Inputs::State, Inputs::Transition].into_iter().flat_map(|inputs| {
        [ModelName::Gail, ModelName::Vail, ModelName::Diffail].map(|model| {
            let mut config = of(Method::Magpie, model);
            (config.gail.inputs, config.vail.inputs, config.diffail.inputs) = (inputs, inputs, inputs);
            config.diffail.passes = 2;
            config
        })
    });
    let airl = [(AirlInputs::State, AirlReward::Advantage), (AirlInputs::StateAction, AirlReward::Softplus)];
    let airl = airl.map(|(inputs, reward)| {
        let mut config = of(Method::Magpie, ModelName::Airl);
        (config.airl.inputs, config.airl.reward) = (inputs, reward);
        config
    });
    methods.chain(seen).chain(airl).collect()
}

fn make(config: &RewardConfig, expert: &Data) -> Box<dyn RewardModel> {
    let mut model = build(config, SIZES, GAMMA, &mut Stream::new(7, "first parameters").draws(0, 0)).unwrap();
    let mut draws = Stream::new(7, "prepare").draws(0, 0);
    model.prepare(&expert.transitions(), &mut draws, &mut |_| ControlFlow::Continue(())).unwrap();
    model
}

fn rewards(model: &dyn RewardModel, data: &Data, normaliser: &Frozen) -> Vec<f32> {
    let mut out = vec![0.0; data.rewards.len()];
    model.reward(&data.transitions(), normaliser, &mut out).unwrap();
    out
}

fn update(model: &mut dyn RewardModel, expert: &Data, policy: &Data, when: u64) -> magpie_rewards::Health {
    let mut draws = Stream::new(7, "update").draws(0, when);
    model.update(&expert.transitions(), &policy.transitions(), &policy.normaliser(), &mut draws).unwrap()
}

/// The probability that a row of `a` earns more than one of `b`.
fn chance(a: &[f32], b: &[f32]) -> f64 {
    let wins: usize = a.iter().map(|a| b.iter().filter(|b| a > b).count()).sum();
    wins as f64 / (a.len() * b.len()) as f64
}

#[test]
fn every_model_learns_to_tell_expert_from_policy() {
    let (expert, policy) = (Data::new(400, true, 1), Data::new(1000, false, 2));
    let (unseen_expert, unseen_policy) = (Data::new(300, true, 3), Data::new(300, false, 4));
    for config in variants().into_iter().filter(|config| config.model != ModelName::True) {
        let name = config.model;
        let mut model = make(&config, &expert);
        let normaliser = policy.normaliser();
        let mut health = update(&mut *model, &expert, &policy, 0);
        for when in 1..250 {
            health = update(&mut *model, &expert, &policy, when);
        }
        assert!(health.columns().all(|(_, value)| value.is_finite()), "{name}: {health:?}");
        let (e, p) =
            (rewards(&*model, &unseen_expert, &normaliser), rewards(&*model, &unseen_policy, &normaliser));
        let chance = chance(&e, &p);
        // GIRIL rewards what its model of the demonstrations does not predict, so that the policy earns more.
        let (right, ahead) = match name {
            ModelName::Giril => (1.0 - chance, health.policy_reward > health.expert_reward),
            _ => (chance, health.policy_reward < health.expert_reward),
        };
        println!("{name}: {right:.3} {health:?}");
        assert!(
            right > 0.8 && ahead,
            "{config:?}: the right one earns more in {right} of all pairs; {health:?}"
        );
    }
}

#[test]
fn the_true_reward_is_the_environments() {
    let policy = Data::new(100, false, 2);
    let mut model = make(&config(ModelName::True), &policy);
    assert_eq!(rewards(&*model, &policy, &policy.normaliser()), policy.rewards);
    assert_eq!(update(&mut *model, &policy, &policy, 0), magpie_rewards::Health::default());
}

#[test]
fn threads_change_no_bit() {
    let (expert, policy) = (Data::new(300, true, 1), Data::new(1000, false, 2));
    for name in ModelName::ALL {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut model = make(&config(name), &expert);
                let health = update(&mut *model, &expert, &policy, 0);
                (health, rewards(&*model, &policy, &policy.normaliser()), model.save().unwrap())
            })
        };
        assert!(run(1) == run(3), "{name}");
    }
}

#[test]
fn a_restored_model_goes_on_as_if_never_stopped() {
    let (expert, policy) = (Data::new(300, true, 1), Data::new(600, false, 2));
    let normaliser = policy.normaliser();
    for variant in variants() {
        let name = variant.model;
        let mut whole = make(&variant, &expert);
        for when in 0..3 {
            update(&mut *whole, &expert, &policy, when);
        }
        let record = whole.save().unwrap();
        let mut resumed = build(&variant, SIZES, GAMMA, &mut Stream::new(99, "other").draws(0, 0)).unwrap();
        resumed.restore(&record).unwrap();
        assert_eq!(
            rewards(&*whole, &policy, &normaliser),
            rewards(&*resumed, &policy, &normaliser),
            "{name}"
        );
        for when in 3..5 {
            let health = update(&mut *whole, &expert, &policy, when);
            assert_eq!(health, update(&mut *resumed, &expert, &policy, when), "{name}");
        }
        assert!(whole.save().unwrap() == resumed.save().unwrap(), "{name}");

        let other = if name == ModelName::Gail { ModelName::Maxent } else { ModelName::Gail };
        let mut other = build(&config(other), SIZES, GAMMA, &mut Stream::new(1, "x").draws(0, 0)).unwrap();
        let error = other.restore(&record).unwrap_err().to_string();
        assert!(error.contains(&format!("it is the state of {name}")), "{error}");
    }
    let mut narrow = config(ModelName::Gail);
    let record = make(&narrow, &expert).save().unwrap();
    narrow.gail.hidden = vec![10];
    let error = make(&narrow, &expert).restore(&record).unwrap_err().to_string();
    assert!(error.contains("parameters, but this configuration has 101"), "{error}");
}

/// Scaling the raw observations of both sides changes nothing, because both use the policy's normaliser.
#[test]
fn expert_and_policy_are_normalised_alike() {
    let (expert, policy) = (Data::new(300, true, 1), Data::new(600, false, 2));
    let scaled = |data: &Data, seed, expert| {
        let scale = |values: &[f32]| values.iter().map(|v| 64.0 * v).collect();
        let (observations, next_observations) = (scale(&data.observations), scale(&data.next_observations));
        Data { observations, next_observations, ..Data::new(data.rewards.len(), expert, seed) }
    };
    let (big_expert, big_policy) = (scaled(&expert, 1, true), scaled(&policy, 2, false));
    for name in [ModelName::Gail, ModelName::Vail, ModelName::Diffail, ModelName::Airl, ModelName::Maxent] {
        let mut small = make(&config(name), &expert);
        let mut big = make(&config(name), &big_expert);
        let a = update(&mut *small, &expert, &policy, 0);
        let b = update(&mut *big, &big_expert, &big_policy, 0);
        for ((column, a), (_, b)) in a.columns().zip(b.columns()) {
            assert!((a - b).abs() < 1e-3 * a.abs().max(1.0), "{name} {column}: {a} {b}");
        }
    }
}

#[test]
fn more_passes_are_more_steps() {
    let (expert, policy) = (Data::new(300, true, 1), Data::new(600, false, 2));
    let after = |passes| {
        let mut config = config(ModelName::Diffail);
        config.diffail.passes = passes;
        let mut model = make(&config, &expert);
        let health = (0..10).map(|when| update(&mut *model, &expert, &policy, when)).last().unwrap();
        (health.rows, health.expert_reward - health.policy_reward)
    };
    let (one, ten) = (after(1), after(10));
    assert!(ten.0 == 10 * one.0 && ten.1 > one.1, "{one:?} {ten:?}");
}

#[test]
fn an_absorbing_state_earns_a_reward() {
    let (mut expert, policy) = (Data::new(300, true, 1), Data::new(600, false, 2));
    // The expert's episodes never end early; the policy's lose many steps.
    expert.lost.fill(0);
    for name in [ModelName::Gail, ModelName::Vail, ModelName::Diffail, ModelName::Maxent] {
        let mut config = config(name);
        config.gail.absorbing = true;
        config.vail.absorbing = true;
        config.diffail.absorbing = true;
        config.maxent.absorbing = true;
        let mut model = make(&config, &expert);
        assert!(model.needs().lost);
        for when in 0..150 {
            update(&mut *model, &expert, &policy, when);
        }
        let normaliser = policy.normaliser();
        let with = rewards(&*model, &policy, &normaliser);
        let mut staying = Data::new(600, false, 2);
        staying.lost.fill(0);
        let without = rewards(&*model, &staying, &normaliser);
        let walking =
            rewards(&*model, &expert, &normaliser).iter().map(|&r| f64::from(r)).sum::<f64>() / 300.0;
        let mut worth = 0.0;
        for row in 0..600 {
            match policy.lost[row] {
                0 => assert_eq!(with[row], without[row], "{name}"),
                _ => worth = f64::from(with[row] - without[row]),
            }
        }
        let discounted: f64 = (1..=20).map(|k| 0.99_f64.powi(k)).sum();
        let absorbed = worth / discounted;
        assert!(absorbed < walking, "{name}: absorbed steps earn {absorbed} each, the expert's {walking}");
    }
}

#[test]
fn bad_numbers_are_errors_and_leave_the_model_as_it_was() {
    let (expert, policy) = (Data::new(300, true, 1), Data::new(600, false, 2));
    let normaliser = policy.normaliser();
    for name in ModelName::ALL {
        let mut model = make(&config(name), &expert);
        let before = model.save().unwrap();
        let mut broken = Data::new(600, false, 2);
        broken.observations.fill(f32::NAN);
        broken.rewards.fill(f32::NAN);
        let mut draws = Stream::new(7, "update").draws(0, 0);
        let mut out = vec![0.0; 600];
        let error = model.reward(&broken.transitions(), &normaliser, &mut out).unwrap_err();
        assert!(matches!(error, RewardError::NotFinite { .. }), "{name}: {error}");
        let result = model.update(&expert.transitions(), &broken.transitions(), &normaliser, &mut draws);
        match name {
            ModelName::True => assert!(result.is_ok()),
            ModelName::Giril => {}
            _ => assert!(matches!(result, Err(RewardError::NotFinite { .. })), "{name}: {result:?}"),
        }
        assert!(model.save().unwrap() == before, "{name}");
        let short = model.reward(&policy.transitions(), &normaliser, &mut out[..599]).unwrap_err();
        assert!(matches!(short, RewardError::Length { field: "reward", .. }), "{name}: {short}");
        if name != ModelName::True {
            let nothing =
                model.update(&Transitions::default(), &policy.transitions(), &normaliser, &mut draws);
            assert!(matches!(
                nothing,
                Err(RewardError::Empty { whose: "expert" } | RewardError::Length { .. })
            ));
        }
    }
}

#[test]
fn giril_must_be_prepared_and_can_be_stopped() {
    let expert = Data::new(100, true, 1);
    let mut model =
        build(&config(ModelName::Giril), SIZES, GAMMA, &mut Stream::new(7, "first parameters").draws(0, 0))
            .unwrap();
    let mut out = vec![0.0; 100];
    let reward = model.reward(&expert.transitions(), &expert.normaliser(), &mut out);
    assert_eq!(reward, Err(RewardError::Unprepared { model: "giril" }));
    let mut calls = 0;
    let mut stop = |progress: magpie_rewards::Progress| {
        calls = progress.done;
        if calls == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    model.prepare(&expert.transitions(), &mut Stream::new(1, "p").draws(0, 0), &mut stop).unwrap();
    assert_eq!(calls, 5);
    assert!(model.reward(&expert.transitions(), &expert.normaliser(), &mut out).is_err());
}

#[test]
fn values_that_make_no_sense_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut RewardConfig)| {
        let mut config = RewardConfig::default();
        change(&mut config);
        match build(&config, SIZES, GAMMA, &mut Stream::new(1, "x").draws(0, 0)) {
            Ok(_) => panic!("accepted"),
            Err(error) => error.to_string(),
        }
    };
    for (error, field) in [
        (refused(&|c| c.thinning = 0), "reward.thinning"),
        (refused(&|c| c.gail.hidden = vec![]), "reward.gail.hidden"),
        (refused(&|c| c.gail.learning_rate = f64::NAN), "reward.gail.learning_rate"),
        (refused(&|c| (c.model, c.vail.beta_step) = (ModelName::Vail, -1.0)), "reward.vail.beta_step"),
        (
            refused(&|c| (c.model, c.diffail.reward_timesteps) = (ModelName::Diffail, 101)),
            "reward.diffail.reward_timesteps",
        ),
        (refused(&|c| (c.model, c.giril.batch_size) = (ModelName::Giril, 0)), "reward.giril.batch_size"),
        (
            refused(&|c| (c.model, c.maxent.reward_l2) = (ModelName::Maxent, f32::INFINITY)),
            "reward.maxent.reward_l2",
        ),
    ] {
        assert!(error.starts_with(field), "{error}");
    }
}
