//! Selection of demonstrators against brute force.

use magpie_golden::Npz;
use magpie_qd::select::{Rated, best, diverse};

#[test]
fn golden_select() {
    let mut golden = Npz::open("numerics/select.npz");
    for case in golden.cases("_objective") {
        let name = |array: &str| format!("{case}_{array}");
        let objective = golden.numbers(&name("objective"));
        let dim = golden.shape(&name("measures"))[1];
        let measures = golden.numbers(&name("measures"));
        let (top_k, n) = (golden.index(&name("topk")), golden.index(&name("n")));
        let rated = |(&objective, measures)| Rated { objective, measures };
        let mut elites: Vec<Rated> = objective.iter().zip(measures.chunks(dim)).map(rated).collect();
        assert_eq!(best(&elites, top_k), golden.indices(&name("top_lowfirst")), "{case}");
        assert_eq!(diverse(&elites, top_k, n), golden.indices(&name("sel_lowfirst")), "{case}");

        // Equal objectives keep the given order, so the other order is that of the reversed list.
        elites.reverse();
        let back = |chosen: Vec<usize>| chosen.iter().map(|i| elites.len() - 1 - i).collect::<Vec<_>>();
        assert_eq!(back(best(&elites, top_k)), golden.indices(&name("top_highfirst")), "{case}");
        assert_eq!(back(diverse(&elites, top_k, n)), golden.indices(&name("sel_highfirst")), "{case}");
    }
}
