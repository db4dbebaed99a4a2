//! Writes a few small files for each target into `corpus/TARGET`, for the fuzzer to begin with:
//!
//! ```sh
//! cargo run --release --example seeds
//! ```

#[path = "../../crates/magpie-demos/tests/common/mod.rs"]
mod common;

use std::fs;
use std::io;
use std::path::Path;

use common::hostile::{packed_npz, repeated_call, repeated_name, shared_tree, wide_chunks};
use common::{Style, hdf5, imitation, paper, pickle};
use magpie_demos::{Given, import_bytes};
use magpie_rewards::ModelName;

use magpie_run::train::{Budget, Config};
use magpie_settings::Method;

fn main() -> io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = here.join("../crates");
    let data = crates.join("magpie-demos/tests/data");
    let arrays = paper(&[4, 5]);
    let given = Given { horizon: 5, ..Given::default() };
    let own = import_bytes(&pickle(Style::Buffer, &arrays), &given).expect("a whole file");
    let own_files = vec![own.to_bytes(), own.sparse(2).and_then(|sparse| sparse.to_bytes())];
    let mut corpus: Vec<(&str, Vec<Vec<u8>>)> = vec![
        (
            "pickle",
            vec![
                pickle(Style::Buffer, &arrays),
                pickle(Style::Reconstruct, &arrays),
                repeated_call("f4", 20, 20),
                repeated_name(20, 20),
            ],
        ),
        ("npz", vec![imitation(), packed_npz("(1001, 10)", false, 10_010)]),
        (
            "hdf5",
            vec![
                hdf5(&[(4, 3), (3, 2)]),
                shared_tree(2, 4, b"episode_0"),
                wide_chunks(1, 1 << 10),
                fs::read(data.join("d4rl.hdf5"))?,
                fs::read(data.join("minari/data/main_data.hdf5"))?,
            ],
        ),
        ("safetensors", own_files.into_iter().map(|bytes| bytes.expect("it was checked")).collect()),
        ("arrow", vec![fs::read(data.join("imitation/data-00000-of-00001.arrow"))?]),
        ("robot", files(&crates.join("magpie-physics/robots"))?),
        ("task", files(&crates.join("magpie-envs/tasks"))?),
    ];
    let mut configs = Vec::new();
    for model in [ModelName::True, ModelName::Gail, ModelName::Diffail] {
        let config = Config::new("walker2d", "feet_contact", model, Method::Magpie, Budget::Quick);
        let text = toml::to_string(&config.expect("they exist")).expect("configurations can be written");
        configs.push(text.into_bytes());
    }
    corpus.push(("config", configs));
    for (target, seeds) in corpus {
        let folder = here.join("corpus").join(target);
        fs::create_dir_all(&folder)?;
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
        println!("{target}: {} seeds", seeds.len());
    }
    Ok(())
}

/// All files of a folder.
fn files(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    paths.iter().map(fs::read).collect()
}
