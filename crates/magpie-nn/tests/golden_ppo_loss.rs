//! The PPO minibatch, its gradients and five steps of it against PyTorch.

mod common;

use common::{Golden, assert_close, tolerance};
use magpie_nn::adam::Adam;
use magpie_nn::norm::clip_norm;
use magpie_nn::ppo::{ActorCritic, Batch, Ppo, PpoConfig};
use magpie_nn::{Kernel, Shape};

/// Ten times what PyTorch's own float32 run deviates.
const TOLERANCE: f32 = 1.2e-4;

/// With split numbers. The policy's loss determines it: a mean of terms of size 1 that cancel to 0.003, each of which
/// may deviate by a few 1e-6.
const SPLIT_TOLERANCE: f32 = 4e-4;

struct Case {
    golden: Golden,
    actor: Shape,
    critic: Shape,
    columns: [Vec<f32>; 6],
    rows: Vec<u32>,
}

impl Case {
    fn open() -> Case {
        let mut golden = Golden::open("ppo_loss");
        let (actor, critic) = (golden.network("pi"), golden.network("vf"));
        let columns =
            ["obs", "actions", "old_logp", "adv", "returns", "old_values"].map(|n| golden.values(n));
        let rows = (0..columns[2].len() as u32).collect();
        Case { golden, actor, critic, columns, rows }
    }

    fn batch(&self) -> Batch<'_> {
        let [observations, actions, log_probs, advantages, returns, values] = &self.columns;
        Batch { rows: &self.rows, observations, actions, log_probs, advantages, returns, values }
    }

    /// Policy and critic rows: `PREFIXpi_w0`…, `PREFIXlogstd`, `PREFIXvf_w0`….
    fn rows(&mut self, prefix: &str) -> (Vec<f32>, Vec<f32>) {
        let mut policy = self.golden.row(&format!("{prefix}pi"), &self.actor);
        policy.extend(self.golden.values(&format!("{prefix}logstd")));
        (policy, self.golden.row(&format!("{prefix}vf"), &self.critic))
    }

    /// Compares layer by layer, so that errors in a small layer are not hidden by a large one.
    fn compare(&self, kernel: Kernel, what: &str, got: (&[f32], &[f32]), want: &(Vec<f32>, Vec<f32>)) {
        let tolerance = tolerance(kernel, TOLERANCE, SPLIT_TOLERANCE);
        for (net, shape, got, want) in
            [("pi", &self.actor, got.0, &want.0), ("vf", &self.critic, got.1, &want.1)]
        {
            for (i, layer) in shape.layers().enumerate() {
                for (part, range) in [("w", layer.weight), ("b", layer.bias)] {
                    assert_close(
                        &format!("{kernel} {what} {net}_{part}{i}"),
                        &got[range.clone()],
                        &want[range],
                        tolerance,
                    );
                }
            }
            let rest = shape.parameters();
            assert_close(&format!("{kernel} {what} {net} log std"), &got[rest..], &want[rest..], tolerance);
        }
    }
}

#[test]
fn golden_ppo_loss_and_gradients() {
    let mut case = Case::open();
    let (policy, critic) = case.rows("");
    let want = case.rows("grad_");
    for kernel in Kernel::available() {
        let tolerance = tolerance(kernel, TOLERANCE, SPLIT_TOLERANCE);
        let mut ppo = Ppo::new(&case.actor, &case.critic, kernel);
        let stats = ppo.gradients(&PpoConfig::default(), &policy, &critic, &case.batch());
        for (name, got) in [
            ("loss", stats.loss),
            ("pg_loss", stats.policy_loss),
            ("v_loss", stats.value_loss),
            ("approx_kl", stats.approx_kl),
            ("old_approx_kl", stats.old_approx_kl),
            ("clipfrac", stats.clip_fraction),
            ("entropy_elem_mean", stats.entropy / case.actor.outputs() as f64),
        ] {
            assert_close(&format!("{kernel} {name}"), &[got as f32], &case.golden.values(name), tolerance);
        }
        let got = (ppo.policy_gradient().to_vec(), ppo.critic_gradient().to_vec());
        case.compare(kernel, "grad", (&got.0, &got.1), &want);
    }
}

#[test]
fn golden_ppo_loss_five_steps_clipped_apart() {
    let mut case = Case::open();
    for kernel in Kernel::available() {
        five_steps_clipped_apart(&mut case, kernel);
    }
}

fn five_steps_clipped_apart(case: &mut Case, kernel: Kernel) {
    let tolerance = tolerance(kernel, TOLERANCE, SPLIT_TOLERANCE);
    let (policy, critic) = case.rows("");
    let mut weights = ActorCritic::new(policy, critic);
    let mut ppo = Ppo::new(&case.actor, &case.critic, kernel);
    let names = ["loss", "pg_loss", "v_loss", "approx_kl", "norm_pi", "norm_vf"];
    let history = names.map(|n| case.golden.values(&format!("sep_hist_{n}")));
    for t in 0..history[0].len() {
        let s = ppo.step(&PpoConfig::default(), &mut weights, &case.batch());
        let got = [
            s.loss as f32,
            s.policy_loss as f32,
            s.value_loss as f32,
            s.approx_kl as f32,
            s.policy_norm,
            s.critic_norm,
        ];
        for ((name, got), want) in names.iter().zip(got).zip(&history) {
            assert_close(&format!("{kernel} step {t} {name}"), &[got], &want[t..=t], tolerance);
        }
    }
    let want = case.rows("sep5_");
    case.compare(kernel, "sep5", (&weights.policy, &weights.critic), &want);
}

#[test]
fn golden_ppo_loss_five_steps_clipped_together() {
    let mut case = Case::open();
    for kernel in Kernel::available() {
        five_steps_clipped_together(&mut case, kernel);
    }
}

fn five_steps_clipped_together(case: &mut Case, kernel: Kernel) {
    let tolerance = tolerance(kernel, TOLERANCE, SPLIT_TOLERANCE);
    let (mut policy, mut critic) = case.rows("");
    let config = PpoConfig::default();
    let isa = kernel.isa();
    let (mut policy_adam, mut critic_adam) = (Adam::new(policy.len()), Adam::new(critic.len()));
    let mut ppo = Ppo::new(&case.actor, &case.critic, kernel);
    let want_loss = case.golden.values("joint_hist_loss");
    for t in 0..want_loss.len() {
        let stats = ppo.gradients(&config, &policy, &critic, &case.batch());
        assert_close(&format!("{kernel} step {t}"), &[stats.loss as f32], &want_loss[t..=t], tolerance);
        let mut gradient = (ppo.policy_gradient().to_vec(), ppo.critic_gradient().to_vec());
        clip_norm(isa, &mut [&mut gradient.0, &mut gradient.1], config.gradient_norm);
        policy_adam.step(isa, &config.adam, &mut policy, &gradient.0);
        critic_adam.step(isa, &config.adam, &mut critic, &gradient.1);
    }
    let want = case.rows("joint5_");
    case.compare(kernel, "joint5", (&policy, &critic), &want);
}
