//! What the paper reports, to be shown beside what we find.
//!
//! "Diversifying policy behaviors with extrinsic behavioral curiosity" (Wan et al., ICML 2025): 2000 iterations with 3000
//! environments, three seeds. Its deviations are given without a divisor; they are passed on as they stand. Coverage is in
//! per cent of the cells.

use super::table::{Cell, ResultsTable};

/// The method that learns from the task's own reward.
pub const TRUE_REWARD: &str = magpie_rewards::ModelName::True.label();

/// Sum of the objectives in the archive.
pub const QD_SCORE: &str = "QD-Score";
/// Occupied cells in per cent.
pub const COVERAGE: &str = "coverage (%)";
/// Highest objective.
pub const BEST: &str = "best";
/// Mean objective of the elites.
pub const MEAN: &str = "mean";

/// The tasks of the main table, in its order.
pub const TASKS: [&str; 3] = ["halfcheetah", "walker2d", "humanoid"];
/// The metrics of the main table, in its order.
pub const METRICS: [&str; 4] = [QD_SCORE, COVERAGE, BEST, MEAN];
/// Runs behind each number.
pub const SEEDS: usize = 3;
/// Iterations of each run.
pub const ITERATIONS: usize = 2000;
/// Episodes by which an elite was judged: 3000 environments, shared by 300 branches.
pub const EPISODES: usize = 10;

/// (mean, standard deviation).
type Number = (f64, f64);

/// The table "Quantitative performance comparison" of the appendix: by method, task and metric.
#[rustfmt::skip]
const RESULTS: [(&str, [[Number; 4]; 3]); 10] = [
    (TRUE_REWARD, [
        [(6_540_000.0, 147_000.0), (94.68, 1.11), (8_724.0, 384.0), (2_764.0, 72.0)],
        [(3_660_000.0, 32_000.0), (77.88, 1.19), (5_454.0, 189.0), (1_882.0, 12.0)],
        [(7_380_000.0, 2_370_000.0), (62.13, 17.22), (9_636.0, 78.0), (4_700.0, 185.0)],
    ]),
    ("DiffAIL-EBC", [
        [(3_990_000.0, 311_000.0), (100.0, 0.0), (4_290.0, 117.0), (1_598.0, 125.0)],
        [(2_930_000.0, 75_900.0), (88.63, 1.06), (2_283.0, 109.0), (1_320.0, 23.0)],
        [(8_920_000.0, 660_000.0), (93.29, 0.41), (5_598.0, 298.0), (3_824.0, 268.0)],
    ]),
    ("DiffAIL", [
        [(4_020_000.0, 58_200.0), (99.72, 0.28), (3_646.0, 41.0), (1_614.0, 28.0)],
        [(1_710_000.0, 408_000.0), (52.14, 0.74), (1_989.0, 646.0), (1_304.0, 294.0)],
        [(3_560_000.0, 371_000.0), (76.32, 0.48), (5_151.0, 132.0), (1_869.0, 206.0)],
    ]),
    ("VAIL-EBC", [
        [(3_780_000.0, 76_900.0), (99.14, 0.5), (3_901.0, 840.0), (1_526.0, 39.0)],
        [(3_190_000.0, 215_000.0), (91.45, 1.62), (3_802.0, 375.0), (1_398.0, 72.0)],
        [(7_260_000.0, 310_000.0), (97.63, 0.59), (5_824.0, 489.0), (2_975.0, 145.0)],
    ]),
    ("VAIL", [
        [(3_620_000.0, 40_000.0), (91.68, 3.8), (5_123.0, 401.0), (1_582.0, 83.0)],
        [(2_400_000.0, 213_000.0), (71.4, 2.7), (3_570.0, 417.0), (1_341.0, 73.0)],
        [(5_090_000.0, 686_000.0), (65.61, 2.77), (7_056.0, 250.0), (3_094.0, 304.0)],
    ]),
    ("GAIL-EBC", [
        [(2_640_000.0, 92_100.0), (98.13, 1.69), (2_770.0, 440.0), (1_074.0, 25.0)],
        [(3_420_000.0, 136_000.0), (91.49, 0.98), (4_022.0, 569.0), (1_493.0, 48.0)],
        [(5_310_000.0, 578_000.0), (98.0, 0.23), (5_140.0, 852.0), (2_166.0, 241.0)],
    ]),
    ("GAIL", [
        [(2_020_000.0, 836_000.0), (67.83, 16.05), (5_115.0, 218.0), (1_165.0, 341.0)],
        [(2_470_000.0, 288_000.0), (69.27, 4.51), (4_031.0, 187.0), (1_425.0, 73.0)],
        [(1_860_000.0, 451_000.0), (82.25, 9.3), (6_278.0, 2_245.0), (924.0, 251.0)],
    ]),
    ("GIRIL", [
        [(2_150_000.0, 898_000.0), (95.96, 0.79), (3_466.0, 1_018.0), (909.0, 382.0)],
        [(520_000.0, 133_000.0), (25.08, 3.93), (1_139.0, 25.0), (821.0, 112.0)],
        [(4_330_000.0, 263_000.0), (67.32, 6.16), (6_992.0, 915.0), (2_588.0, 253.0)],
    ]),
    ("AIRL", [
        [(3_110_000.0, 172_000.0), (83.57, 9.65), (5_183.0, 1_735.0), (1_408.0, 700.0)],
        [(2_530_000.0, 256_000.0), (70.53, 2.3), (4_280.0, 326.0), (1_437.0, 138.0)],
        [(2_310_000.0, 115_000.0), (71.47, 7.59), (7_661.0, 705.0), (1_308.0, 144.0)],
    ]),
    ("Max-Ent", [
        [(1_120_000.0, 354_000.0), (85.48, 10.65), (2_570.0, 710.0), (523.0, 152.0)],
        [(1_800_000.0, 51_700.0), (68.81, 0.75), (3_756.0, 318.0), (1_046.0, 29.0)],
        [(1_820_000.0, 309_000.0), (83.04, 6.07), (4_658.0, 1_489.0), (882.0, 192.0)],
    ]),
];

/// The main table: ten methods on three tasks.
pub fn results() -> ResultsTable {
    let mut table = ResultsTable::default();
    for (method, tasks) in RESULTS {
        for (task, numbers) in TASKS.into_iter().zip(tasks) {
            for (metric, number) in METRICS.into_iter().zip(numbers) {
                table.set(method, task, metric, cell(number));
            }
        }
    }
    table
}

/// An effect of curiosity on the QD-Score as the paper states it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedEffect {
    /// The method without curiosity; with it, its name ends in `-EBC`.
    pub method: &'static str,
    /// The task.
    pub task: &'static str,
    /// Gain in QD-Score in per cent (section 4.1), `None` where it says "approximately the same".
    pub percent: Option<f64>,
    /// Whether the table of Tukey's tests calls the effect positive.
    pub positive: bool,
    /// The p-value in that table, to four places.
    pub p: f64,
}

/// The effects of curiosity on the QD-Score, with the p-values of Tukey's test. For VAIL on halfcheetah the tests say
/// that it is negative, against the gain in the text and in the main table.
pub const EFFECTS: [StatedEffect; 9] = {
    const fn stated(
        method: &'static str,
        task: usize,
        percent: Option<f64>,
        positive: bool,
        p: f64,
    ) -> StatedEffect {
        StatedEffect { method, task: TASKS[task], percent, positive, p }
    }
    [
        stated("DiffAIL", 0, None, false, 1.0),
        stated("DiffAIL", 1, Some(71.0), true, 0.0236),
        stated("DiffAIL", 2, Some(150.0), true, 0.0),
        stated("VAIL", 0, Some(5.0), false, 0.9994),
        stated("VAIL", 1, Some(32.0), true, 0.1894),
        stated("VAIL", 2, Some(42.0), true, 0.0061),
        stated("GAIL", 0, Some(30.0), true, 1.0),
        stated("GAIL", 1, Some(38.0), true, 0.0231),
        stated("GAIL", 2, Some(185.0), true, 0.0004),
    ]
};

/// A study of GAIL without and with curiosity: in each setting QD-Score and coverage of either.
type Study<const N: usize> = [(&'static str, [[Number; 2]; 2]); N];

/// Other measures than feet contact of the main table; the setting stands where the task does.
const MEASURES: Study<4> = [
    ("hopper jump (1)", [[(64_017.0, 5_558.0), (100.0, 0.0)], [(81_987.0, 6_890.0), (100.0, 0.0)]]),
    ("humanoid angle (2)", [[(63_771.0, 7_113.0), (53.0, 3.0)], [(170_273.0, 19_711.0), (96.0, 0.0)]]),
    ("humanoid jump (1)", [[(18_812.0, 6_412.0), (41.0, 31.0)], [(90_631.0, 61_894.0), (85.0, 15.0)]]),
    ("ant feet_contact (4)", [[(-484_468.0, 3_264.0), (75.84, 0.0)], [(-52_521.0, 383_213.0), (77.28, 3.2)]]),
];

/// Other demonstrations on humanoid: their number, diverse unless it says otherwise.
const DEMONSTRATIONS: Study<5> = [
    ("10 demos", [[(2_576_765.0, 82_806.0), (68.68, 3.20)], [(5_822_582.0, 254_060.0), (97.00, 0.16)]]),
    ("4 demos", [[(1_886_725.0, 551_004.0), (88.34, 4.30)], [(5_704_650.0, 150_716.0), (97.84, 0.04)]]),
    ("2 demos", [[(2_676_218.0, 360_663.0), (70.44, 0.20)], [(5_803_908.0, 1_320_888.0), (97.30, 0.30)]]),
    ("1 demo", [[(1_718_577.0, 134_816.0), (75.24, 1.12)], [(4_948_921.0, 203_595.0), (98.70, 1.02)]]),
    ("4 best demos", [[(2_832_078.0, 319_164.0), (75.30, 7.90)], [(4_074_729.0, 306_686.0), (98.12, 0.40)]]),
];

/// The study of other measures (and their number of dimensions): GAIL and GAIL-EBC, with task and measure as the task.
pub fn measures_study() -> ResultsTable {
    study(&MEASURES)
}

/// The study of the number, diversity and quality of demonstrations on humanoid, with the demonstrations as the task.
pub fn demonstrations_study() -> ResultsTable {
    study(&DEMONSTRATIONS)
}

fn study<const N: usize>(settings: &Study<N>) -> ResultsTable {
    let mut table = ResultsTable::default();
    for (setting, methods) in settings {
        for (method, numbers) in ["GAIL", "GAIL-EBC"].into_iter().zip(methods) {
            for (metric, number) in [QD_SCORE, COVERAGE].into_iter().zip(numbers) {
                table.set(method, setting, metric, cell(*number));
            }
        }
    }
    table
}

/// The demonstrations of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demonstrations {
    /// The task.
    pub task: &'static str,
    /// How many.
    pub number: usize,
    /// Steps of an episode: least, most, mean and standard deviation.
    pub length: [f64; 4],
    /// Its return: least, most, mean and standard deviation.
    pub returns: [f64; 4],
}

/// The paper's demonstrations, chosen among the 500 best elites.
pub const PAPER_DEMONSTRATIONS: [Demonstrations; 3] = [
    Demonstrations {
        task: "halfcheetah",
        number: 4,
        length: [1000.0, 1000.0, 1000.0, 0.0],
        returns: [3766.0, 8405.4, 5721.3, 1927.6],
    },
    Demonstrations {
        task: "walker2d",
        number: 4,
        length: [356.0, 1000.0, 625.8, 254.4],
        returns: [1147.9, 3721.8, 2372.3, 1123.7],
    },
    Demonstrations {
        task: "humanoid",
        number: 4,
        length: [1000.0, 1000.0, 1000.0, 0.0],
        returns: [7806.2, 9722.6, 8829.5, 698.1],
    },
];

fn cell((mean, std): Number) -> Cell {
    Cell { mean, std: Some(std), n: SEEDS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_table_agrees_with_itself() {
        let table = results();
        assert_eq!(
            (table.methods().len(), table.tasks(), table.metrics()),
            (10, &TASKS.map(String::from)[..], &METRICS.map(String::from)[..])
        );
        for method in table.methods() {
            for task in TASKS {
                let mean = |metric| table.get(method, task, metric).unwrap().mean;
                // QD-Score = cells · coverage · mean for each run; means of runs multiply only roughly.
                let product = 2500.0 * mean(COVERAGE) / 100.0 * mean(MEAN);
                let ratio = mean(QD_SCORE) / product;
                assert!((0.94..1.07).contains(&ratio), "{method} on {task}: {ratio}");
                assert!(mean(BEST) > mean(MEAN) && mean(COVERAGE) <= 100.0, "{method} on {task}");
            }
        }
    }

    #[test]
    fn stated_gains_are_those_of_the_main_table() {
        let table = results();
        for effect in EFFECTS {
            let score = |method: &str| table.get(method, effect.task, QD_SCORE).unwrap().mean;
            let gain = 100.0 * (score(&format!("{}-EBC", effect.method)) / score(effect.method) - 1.0);
            match effect.percent {
                Some(percent) => assert!((gain - percent).abs() < 1.0, "{effect:?}: {gain}"),
                None => assert!(gain.abs() < 1.0, "{effect:?}: {gain}"),
            }
        }
        assert_eq!(EFFECTS.iter().filter(|effect| effect.positive).count(), 7);
        assert_eq!(EFFECTS.iter().filter(|effect| effect.p <= 0.05).count(), 5);
    }

    #[test]
    fn curiosity_helps_in_every_study() {
        for table in [measures_study(), demonstrations_study()] {
            for task in table.tasks() {
                let mean = |method, metric| table.get(method, task, metric).unwrap().mean;
                for metric in [QD_SCORE, COVERAGE] {
                    assert!(mean("GAIL-EBC", metric) >= mean("GAIL", metric), "{task}: {metric}");
                }
            }
        }
        assert!(
            PAPER_DEMONSTRATIONS.iter().all(|d| d.returns[0] < d.returns[2] && d.returns[2] < d.returns[1])
        );
    }
}
