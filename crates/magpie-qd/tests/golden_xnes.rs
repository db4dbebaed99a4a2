//! xNES against evotorch.

mod common;

use common::assert_close;
use magpie_golden::Npz;
use magpie_qd::xnes::{MEAN_RATE, Xnes, factor_rate, utilities};

#[test]
fn golden_xnes() {
    let mut golden = Npz::open("numerics/xnes.npz");
    for case in golden.cases("_samples") {
        let name = |array: &str| format!("{case}_{array}");
        let shape = golden.shape(&name("samples"));
        let (steps, n, d) = (shape[0], shape[1], shape[2]);
        assert_close(MEAN_RATE, golden.number(&name("center_lr")), &case);
        assert_close(factor_rate(d), golden.number(&name("A_lr")), &case);
        let by_rank = golden.numbers(&name("utilities_by_rank"));
        assert_eq!(by_rank.len(), n, "{case}");
        for (got, want) in utilities(n).iter().zip(by_rank) {
            assert_close(*got, want, &case);
        }

        let (samples, fitness) = (golden.numbers(&name("samples")), golden.numbers(&name("fitness")));
        let (mean, factor) = (golden.numbers(&name("mean")), golden.numbers(&name("A")));
        assert_eq!((mean.len(), factor.len()), ((steps + 1) * d, (steps + 1) * d * d), "{case}");
        let mut xnes = Xnes::with_factor(mean[..d].to_vec(), factor[..d * d].to_vec()).unwrap();
        for step in 0..steps {
            xnes.tell(&samples[step * n * d..][..n * d], &fitness[step * n..][..n]).unwrap();
            let what = format!("{case} step {step}");
            for (got, want) in xnes.mean().iter().zip(&mean[(step + 1) * d..]) {
                assert_close(*got, *want, &what);
            }
            for (got, want) in xnes.factor().iter().zip(&factor[(step + 1) * d * d..]) {
                assert_close(*got, *want, &what);
            }
        }
    }
}
