//! Adam and norm clipping against PyTorch.

mod common;

use common::{Golden, assert_close};
use magpie_nn::adam::{Adam, AdamConfig};
use magpie_nn::norm::{clip_norm, global_norm};
use magpie_simd::Isa;

/// Ten times what PyTorch's own float32 run deviates.
const TOLERANCE: f32 = 4e-6;

#[test]
fn golden_adam_steps() {
    let mut golden = Golden::open("adam");
    let names = ["w", "b", "s"];
    for (tag, learning_rate, epsilon, clip) in
        [("plain", 1e-3, 1e-5, false), ("clip", 1e-3, 1e-5, true), ("eps8", 3e-4, 1e-8, false)]
    {
        let config = AdamConfig { learning_rate, epsilon, ..AdamConfig::default() };
        let mut parameters = names.map(|n| golden.values(&format!("p0_{n}")));
        let gradients = names.map(|n| golden.values(&format!("grad_{n}")));
        let want = names.map(|n| golden.values(&format!("{tag}_{n}")));
        let want_norm = golden.values(&format!("{tag}_norm"));
        let isa = Isa::best();
        let mut adams = [0, 1, 2].map(|i| Adam::new(parameters[i].len()));
        for t in 0..want_norm.len() {
            let mut now: [Vec<f32>; 3] = std::array::from_fn(|i| {
                let size = parameters[i].len();
                gradients[i][t * size..][..size].to_vec()
            });
            let [w, b, s] = &mut now;
            let norm = match clip {
                true => clip_norm(isa, &mut [w, b, s], 1.0),
                false => global_norm(isa, &[w, b, s]),
            };
            assert_close(&format!("{tag}_norm[{t}]"), &[norm], &want_norm[t..=t], TOLERANCE);
            for i in 0..3 {
                let size = parameters[i].len();
                adams[i].step(isa, &config, &mut parameters[i], &now[i]);
                let what = format!("{tag}_{}[{t}]", names[i]);
                assert_close(&what, &parameters[i], &want[i][t * size..][..size], TOLERANCE);
            }
        }
        for i in 0..3 {
            let (m, v) = adams[i].moments();
            for (name, got) in [("m", m), ("v", v)] {
                let what = format!("{tag}_{name}_{}", names[i]);
                assert_close(&what, got, &golden.values(&what), TOLERANCE);
            }
        }
    }
}
