//! The curiosity bonus of whole rollouts in all three scopes, against the public code and independent formulas.

use magpie_golden::Npz;
use magpie_learn::{End, RolloutBuffer};
use magpie_qd::Grid;
use magpie_search::{Curiosity, EpisodeAccumulator, Scope, pay_episodes};

#[test]
fn golden_ebc_bonus() {
    let mut golden = Npz::open("numerics/ebc.npz");
    let cases = golden.cases("_occupied");
    assert!(!cases.is_empty());
    for case in cases {
        let name = |array: &str| format!("{case}_{array}");
        let (lower, upper) = (golden.numbers(&name("lower")), golden.numbers(&name("upper")));
        let grid = magpie_qd::Cells::from(Grid::new(golden.indices(&name("dims")), lower, upper).unwrap());
        let occupied = golden.flags(&name("occupied"));
        let shape = golden.shape(&name("measures"));
        let [steps, environments, dims] = shape[..] else {
            panic!("measures of {case} have shape {shape:?}")
        };
        let (measures, dones) = (golden.numbers(&name("measures")), golden.flags(&name("dones")));

        for (scope, title) in
            [(Scope::Window, "window"), (Scope::Segment, "segment"), (Scope::Episode, "carryseg")]
        {
            let bonus = golden.numbers(&name(&format!("{title}_bonus")));
            let mut rollout = RolloutBuffer::new(environments, steps, 1, 1, dims);
            for environment in 0..environments {
                for (t, row) in rollout.rows_of(environment).enumerate() {
                    let at = t * environments + environment;
                    for d in 0..dims {
                        rollout.measures[row * dims + d] = measures[at * dims + d] as f32;
                    }
                    rollout.ends[row] = if dones[at] { End::Terminated } else { End::Continues };
                }
            }
            let counts = golden.numbers(&name("init_count")).iter().map(|&n| n as u32).collect();
            let mut memory = EpisodeAccumulator::from_parts(golden.numbers(&name("init_sum")), counts);
            let (weight, base) = (golden.number(&name("q")), golden.number(&name("p")));
            let curiosity = Curiosity { weight, base, scope, ..Curiosity::default() };
            let novelty = |mean: &[f64]| f64::from(u8::from(!occupied[grid.index_of(mean).unwrap()]));
            pay_episodes(&curiosity, &mut rollout, &mut memory, novelty);

            for environment in 0..environments {
                for (t, row) in rollout.rows_of(environment).enumerate() {
                    let want = match scope {
                        Scope::Window => bonus[environment],
                        _ => bonus[t * environments + environment],
                    };
                    let got = f64::from(rollout.rewards[row]);
                    assert!((got - want).abs() < 1e-6, "{case} {title} step {t}: {got} and not {want}");
                }
            }
            if scope == Scope::Episode {
                let (sums, counts) = memory.parts();
                assert_eq!(sums, golden.numbers(&name("end_sum")), "{case}");
                let want = golden.numbers(&name("end_count"));
                assert!(counts.iter().zip(want).all(|(&got, want)| f64::from(got) == want), "{case}");
            }
        }
    }
}
