//! Whole searches, to the last bit: what a change of code, of a dependency or of the compiler must not move.
//!
//! Sums of logarithms and powers go through the system's mathematics, so the numbers are those of one platform. There are two for
//! each search: with fused multiply-adds, which all instruction sets that have them round alike, and without.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use common::text;
use magpie_simd::{ISA_VARIABLE, Isa};

const SMALL: &str = "--seed 3 --set search.environments=48 --set search.branches=12 --set search.episodes=2 \
     --set search.gradient_iterations=2 --set search.walk_iterations=2 --set search.train.rollout_length=32 \
     --set search.critic=16";

/// A search, its hash with fused multiply-adds, and without.
const SEARCHES: &[(&str, [u64; 2])] = &[
    ("walker2d --reward gail --curiosity 2", [0x10f8_cf9d_c074_fca2, 0x1c8b_c6e6_b6da_2f96]),
    (
        "hopper --reward diffail --measure jump --curiosity 2 --set search.curiosity.novelty=visits",
        [0x5ad9_1a53_c153_42ab, 0x7170_9594_3077_7b6d],
    ),
    ("ant --reward true --curiosity 2", [0x6bac_2394_de95_cb1f, 0xc623_21aa_4131_d350]),
    (
        "humanoid --reward airl --measure angle --method paper --curiosity 2",
        [0x9a6b_1f14_6971_db54, 0x1d9b_64a1_c4d8_8737],
    ),
    (
        "halfcheetah --reward vail --curiosity 0 --friction 0.5",
        [0xc4b0_da73_aa79_cd76, 0x6b23_e34e_07fe_1943],
    ),
    (
        "hopper --reward true --set search.actions=mean --set search.emitter.iso_line.children=8 \
      --set search.emitters=[\"ppga\",\"iso_line\"]",
        [0xad9c_6f11_4349_fadc, 0xe933_4ebd_3760_f609],
    ),
];

fn run(isa: &str, arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_magpie"))
        .args(arguments)
        .env(ISA_VARIABLE, isa)
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Columns of metrics.csv that tell searches apart; a new column is no other search.
const COLUMNS: [&str; 8] = [
    "iteration",
    "qd_score",
    "qd_score_offset",
    "best",
    "new_cells",
    "env_steps",
    "update_rows",
    "search_return",
];

/// Tensors of an archive that tell searches apart; what else is said of the same elites is no other search.
const TENSORS: [&str; 11] = [
    "branch",
    "index",
    "iteration",
    "length",
    "measures",
    "obs_count",
    "obs_mean",
    "obs_var",
    "objective",
    "solution",
    "threshold",
];

/// FNV-1a of these tensors of the archive and of these columns.
fn hash(run: &Path) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    let file = std::fs::read(run.join("archive.safetensors")).unwrap();
    let (length, rest) = file.split_first_chunk::<8>().unwrap();
    let (head, body) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let tensors: BTreeMap<String, serde_json::Value> = serde_json::from_slice(head).unwrap();
    for (name, tensor) in tensors.into_iter().filter(|(name, _)| TENSORS.contains(&name.as_str())) {
        let [start, end] = [0, 1].map(|end| tensor["data_offsets"][end].as_u64().unwrap() as usize);
        add(name.as_bytes());
        add(tensor["shape"].to_string().as_bytes());
        add(&body[start..end]);
    }
    let metrics = std::fs::read_to_string(run.join("metrics.csv")).unwrap();
    let columns: Vec<&str> = metrics.lines().next().unwrap().split(',').collect();
    for line in metrics.lines().skip(1) {
        for (column, value) in columns.iter().zip(line.split(',')) {
            if COLUMNS.contains(column) {
                add(column.as_bytes());
                add(value.as_bytes());
            }
        }
    }
    hash
}

#[test]
fn searches_are_what_they_were_whole_and_resumed() {
    let fused = Isa::available().find(|isa| isa.has_fma()).map(Isa::name);
    let mut wrong = Vec::new();
    for (search, pinned) in SEARCHES {
        for (isa, pinned) in [fused, Some("portable")].into_iter().zip(pinned) {
            let Some(isa) = isa else { continue };
            let folder = tempfile::tempdir().unwrap();
            let [whole, halves] = ["whole", "halves"].map(|name| folder.path().join(name));
            let start = |path: &Path, iterations: &str| {
                let arguments = [search, SMALL].into_iter().flat_map(str::split_whitespace);
                let more = ["--iterations", iterations, "--out", text(path)];
                let arguments: Vec<&str> = ["train"].into_iter().chain(arguments).chain(more).collect();
                run(isa, &arguments);
            };
            start(&whole, "2");
            start(&halves, "1");
            run(isa, &["train", "--resume", text(&halves), "--iterations", "2"]);
            let found = hash(&whole);
            assert_eq!(found, hash(&halves), "{search} ({isa}): resumed it is another search");
            if found != *pinned {
                wrong.push(format!("{search} ({isa}): {found:#018x}"));
            }
        }
    }
    assert!(wrong.is_empty(), "other numbers than before:\n{}", wrong.join("\n"));
}
