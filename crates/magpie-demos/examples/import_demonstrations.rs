//! Reads demonstrations of any known format and says what is in them.
//!
//! ```sh
//! cargo run --release -p magpie-demos --example import_demonstrations -- FILE [HORIZON]
//! ```

use std::path::Path;

use magpie_demos::{Given, import};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: import_demonstrations FILE [HORIZON]");
        std::process::exit(2);
    };
    let horizon = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let given = Given { source: file.clone(), horizon, ..Given::default() };
    match import(Path::new(&file), &given) {
        Ok(demonstrations) => {
            let columns = demonstrations.columns();
            let sizes = demonstrations.sizes();
            println!(
                "{} steps, {} entries an observation and {} an action",
                demonstrations.steps(),
                sizes.observation,
                sizes.action
            );
            columns.about.repairs.iter().for_each(|repair| println!("repaired: {repair}"));
            for episode in &columns.episodes {
                println!("{episode:?}");
            }
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
