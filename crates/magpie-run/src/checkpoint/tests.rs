use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use magpie_random::{Draws, Stream};

use super::index::Plan;
use super::*;
use crate::directory::RunDirectory;
use crate::metrics::Metrics;

const CELLS: usize = 40;

/// A folder with a run, and rows that change.
struct Bench {
    _folder: tempfile::TempDir,
    directory: Arc<RunDirectory>,
    metrics: Metrics,
    writer: Writer,
    rows: Solutions,
    draws: Draws,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let directory = Arc::new(RunDirectory::create(folder.path()).unwrap());
        Bench {
            metrics: Metrics::create(&directory.file("metrics.csv"), &["iteration"]).unwrap(),
            _folder: folder,
            directory,
            writer: Writer::new(Stored::default()),
            rows: Solutions::new(CELLS, 3, 2),
            draws: Stream::new(1, "rows").draws(0, 0),
        }
    }

    fn head(&self) -> PathBuf {
        self.directory.file("checkpoint/search")
    }

    fn change(&mut self, cell: usize) {
        let solution = [0; 3].map(|_| self.draws.uniform(-1.0, 1.0));
        let extra = [0; 2].map(|_| f64::from(self.draws.uniform(-1.0, 1.0)));
        self.rows.set(cell, &solution, &extra).unwrap();
    }

    fn change_any(&mut self, count: u32) {
        for _ in 0..count {
            let cell = self.draws.below(CELLS as u32) as usize;
            self.change(cell);
        }
    }

    fn begin(&mut self, record: &str) {
        let job = Job {
            directory: Arc::clone(&self.directory),
            metrics: self.metrics.clone(),
            head: self.head(),
            iteration: 7,
            record: postcard::to_stdvec(record).unwrap(),
            results: None,
        };
        self.writer.begin(job, Some(&self.rows)).unwrap();
    }

    fn save(&mut self, record: &str) -> Result<Written, RunError> {
        self.begin(record);
        self.writer.wait().unwrap()
    }

    /// Goes on in another process.
    fn resume(&mut self) -> String {
        let Checkpoint { record, rows, stored } = load(&self.head()).unwrap();
        (self.rows, self.writer) = (rows, Writer::new(stored));
        record
    }

    /// Names and contents of the files of the checkpoint.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.directory.file("checkpoint")).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }
}

#[track_caller]
fn refused(head: &Path, damaged: &Path) {
    let name = damaged.file_name().unwrap().to_str().unwrap();
    let error = load::<String>(head).map(drop).unwrap_err().to_string();
    assert!(error.contains(&format!("{name}:")), "{name}: {error}");
    assert!(
        error.contains("the file is damaged; restore it") || error.contains("another version"),
        "{error}"
    );
}

#[test]
fn any_damage_is_named_and_refused() {
    let mut bench = Bench::new();
    (0..6).for_each(|cell| bench.change(cell));
    bench.save("first").unwrap();
    (0..2).for_each(|cell| bench.change(cell));
    bench.save("second").unwrap();
    let (head, files) = (bench.head(), bench.files());
    assert_eq!(files.len(), 3);
    for (path, whole) in files {
        // Also in rows that have been replaced.
        for bit in 0..8 * whole.len() {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, flipped).unwrap();
            refused(&head, &path);
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            refused(&head, &path);
        }
        fs::write(&path, [&whole[..], b"more"].concat()).unwrap();
        refused(&head, &path);
        if path != head {
            fs::remove_file(&path).unwrap();
            refused(&head, &path);
        }
        fs::write(&path, &whole).unwrap();
    }
    let Checkpoint { record, rows, .. } = load::<String>(&head).unwrap();
    assert_eq!((record.as_str(), rows), ("second", bench.rows));
}

#[test]
fn a_segment_of_another_save_is_refused() {
    let mut bench = Bench::new();
    bench.change(0);
    bench.save("first").unwrap();
    let segment = bench.directory.file("checkpoint/rows-0");
    // Whole, of the right size, but not the one that the head speaks of.
    let mut rows = Solutions::new(CELLS, 3, 2);
    rows.set(0, &[9.0; 3], &[9.0; 2]).unwrap();
    rows::write(&segment, &[Arc::clone(rows.row(0).unwrap())]).unwrap();
    refused(&bench.head(), &segment);
}

#[test]
fn a_checkpoint_of_another_version_is_not_damaged() {
    let bench = Bench::new();
    for version in ["4\nand more", "8\nand more", "11\nand more"] {
        fs::write(bench.head(), format!("magpie checkpoint {version}")).unwrap();
        let error = load::<String>(&bench.head()).map(drop).unwrap_err().to_string();
        assert!(error.contains("another version of magpie; resume the run with that"), "{error}");
        assert!(!error.contains("damaged") && iteration_of(&bench.head()).is_none(), "{error}");
    }
}

#[test]
fn a_save_writes_what_has_changed_and_nothing_else() {
    let mut bench = Bench::new();
    let size = 3 * 4 + 2 * 8;
    (0..CELLS).for_each(|cell| bench.change(cell));
    let whole = bench.save("").unwrap().checkpoint;
    assert!(whole > (CELLS * size) as u64);
    let head = fs::metadata(bench.head()).unwrap().len();
    assert_eq!(bench.save("").unwrap().checkpoint, head);
    bench.change(3);
    bench.change(3);
    let one = bench.save("").unwrap().checkpoint;
    let heads = [head, fs::metadata(bench.head()).unwrap().len()];
    assert_eq!(one, heads[1] + "magpie rows 1\n".len() as u64 + size as u64 + 4);
    // The same in another process, which has other versions of all rows.
    bench.resume();
    assert_eq!(bench.save("").unwrap().checkpoint, heads[1]);
    assert_eq!(iteration_of(&bench.head()), Some(7));
}

#[test]
fn whatever_changes_and_whenever_it_stops_what_was_saved_is_read_back() {
    let mut bench = Bench::new();
    let mut largest = 0;
    for save in 0..400 {
        let changes = [0, 1, 1, 2, 5, 60][bench.draws.below(6) as usize];
        bench.change_any(changes);
        let before = bench.rows.clone();
        bench.begin(&save.to_string());
        // The search goes on while its rows are written.
        bench.change_any(5);
        bench.writer.wait().unwrap().unwrap();
        let Checkpoint { record, rows, stored } = load::<String>(&bench.head()).unwrap();
        assert_eq!((record, &rows), (save.to_string(), &before));
        let names: BTreeSet<PathBuf> = bench.files().into_iter().map(|(path, _)| path).collect();
        let listed = stored.index.segments.keys().map(|&number| segment_file(&bench.head(), number));
        assert_eq!(names, listed.chain([bench.head()]).collect());
        let stored_rows: u32 = stored.index.segments.values().map(|segment| segment.rows).sum();
        let live = (0..CELLS).filter(|&cell| rows.row(cell).is_some()).count();
        assert!(stored_rows as usize <= 2 * live, "{stored_rows} rows stored for {live}");
        largest = largest.max(stored_rows as usize);
        if bench.draws.below(10) == 0 {
            bench.resume();
        }
    }
    assert!(largest > CELLS, "nothing was ever replaced");
}

#[test]
fn many_small_segments_become_few() {
    let mut bench = Bench::new();
    let mut most = 0;
    bench.rows = Solutions::new(200, 3, 2);
    for cell in 0..200 {
        bench.change(cell);
        bench.save("").unwrap();
        most = most.max(bench.files().len());
    }
    assert!((60..70).contains(&most), "{most}");
    assert_eq!(load::<String>(&bench.head()).unwrap().rows, bench.rows);
}

#[test]
fn killed_between_rows_and_head_a_run_goes_on_from_the_head_before() {
    let mut bench = Bench::new();
    (0..5).for_each(|cell| bench.change(cell));
    bench.save("before").unwrap();
    let before = bench.rows.clone();
    (2..9).for_each(|cell| bench.change(cell));
    let Plan { number, rows: written, .. } =
        bench.writer.stored().plan(&bench.rows, bench.writer.stored().next());
    let orphan = segment_file(&bench.head(), number);
    rows::write(&orphan, &written).unwrap();
    fs::write(orphan.with_file_name("rows-77"), "another").unwrap();
    assert_eq!(bench.resume(), "before");
    assert_eq!(bench.rows, before);
    // The number is taken again, for other rows.
    bench.change(9);
    bench.save("after").unwrap();
    let after = bench.rows.clone();
    assert_eq!((bench.resume().as_str(), &bench.rows), ("after", &after));
    assert!(!orphan.with_file_name("rows-77").exists());
}

#[test]
fn a_save_that_fails_says_so_and_the_next_one_makes_up_for_it() {
    let mut bench = Bench::new();
    bench.change(0);
    bench.save("first").unwrap();
    bench.change(1);
    // Nothing can be renamed to where a folder is.
    let (head, aside) = (bench.head(), bench.directory.file("aside"));
    fs::rename(&head, &aside).unwrap();
    fs::create_dir_all(head.join("in the way")).unwrap();
    let error = bench.save("second").unwrap_err().to_string();
    assert!(error.contains("checkpoint/search: writing"), "{error}");
    fs::remove_dir_all(&head).unwrap();
    fs::rename(&aside, &head).unwrap();
    assert_eq!(load::<String>(&head).unwrap().record, "first");
    bench.change(2);
    bench.save("third").unwrap();
    let rows = bench.rows.clone();
    assert_eq!((bench.resume().as_str(), &bench.rows), ("third", &rows));
    // The failed save's segment is gone.
    assert_eq!(bench.files().len(), 3);
}

#[test]
fn a_folder_stays_locked_until_the_save_has_ended() {
    let mut bench = Bench::new();
    (0..CELLS).for_each(|cell| bench.change(cell));
    bench.begin("last");
    let (path, head) = (bench.directory.path().to_owned(), bench.head());
    let Bench { _folder, directory, writer, .. } = bench;
    drop(directory);
    drop(writer);
    RunDirectory::create(&path).unwrap();
    assert_eq!(load::<String>(&head).unwrap().record, "last");
}

/// What the saves of a full humanoid archive cost: `cargo test -p magpie-run --release -- --ignored --nocapture cost_of`.
#[test]
#[ignore = "writes gigabytes to show what saving costs; it checks nothing"]
fn cost_of_saving_a_full_humanoid_archive() {
    const ELITES: usize = 2500;
    let mut bench = Bench::new();
    bench.rows = Solutions::new(ELITES, 37_000, 490);
    let (solution, extra) = (vec![0.1; 37_000], vec![0.2; 490]);
    (0..ELITES).for_each(|cell| bench.rows.set(cell, &solution, &extra).unwrap());
    // Critics, optimisers and reward model.
    let record = "x".repeat(8_000_000);
    for changes in [ELITES, 0, 50, 250, 250, 1000, 1000, ELITES] {
        for _ in 0..changes {
            let cell = bench.draws.below(ELITES as u32) as usize;
            bench.rows.set(cell, &solution, &extra).unwrap();
        }
        let begun = std::time::Instant::now();
        bench.begin(&record);
        let held = begun.elapsed();
        let written = bench.writer.wait().unwrap().unwrap().checkpoint;
        let (ms, all) = (held.as_secs_f64() * 1e3, begun.elapsed().as_secs_f64() * 1e3);
        println!(
            "{changes:4} rows changed: {:6.1} MB written in {all:5.0} ms, held up {ms:5.1} ms",
            written as f64 / 1e6
        );
    }
    let begun = std::time::Instant::now();
    bench.resume();
    println!("read back in {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
}
