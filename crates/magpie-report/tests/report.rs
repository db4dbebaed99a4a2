//! Reports on folders of runs, good and bad.

mod common;

use std::path::Path;

use common::{Sketch, reevaluated, sweep};
use magpie_report::runs::{Metric, collect, scenes};
use magpie_report::{Report, report};
use magpie_rewards::ModelName;
use magpie_run::{ArchiveOutline, load_outline};

fn of(folder: &Path) -> Report {
    report(&[folder.to_owned()]).unwrap()
}

fn said(report: &Report) -> String {
    report.notes().iter().map(|note| format!("{}: {}\n", note.place, note.problem)).collect()
}

#[test]
fn everything_is_in_the_page_and_in_the_files() {
    let folder = tempfile::tempdir().unwrap();
    sweep(folder.path());
    let report = of(folder.path());
    let said = said(&report);
    for expected in [
        "walker2d-gail-0-2: not finished: 60 of 150 iterations",
        "walker2d-vail-0-3: its archive is not shown",
        "hopper, jump: GAIL-EBC: no run with seed 3",
        "hopper-vail-2-1: left out",
        "one-policy: left out: it is a run, but no search",
        "walker2d, feet contact: runs differ in length, from 60 to 150",
    ] {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    assert_eq!(report.runs(), 43);
    let html = report.html();
    // Twelve curves, a CCDF and intervals for each of three tasks; a map for each of five methods.
    assert_eq!(html.matches("<figure").count(), 3 * (12 + 2 + 5));
    for expected in [
        "GAIL-EBC",
        "as stored",
        "run again",
        "paper",
        "demonstrations",
        "not finished",
        "effect in the paper",
    ] {
        assert!(html.contains(expected), "{expected}");
    }
    for foreign in ["http://", "https://", "NaN", "src="] {
        let found = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(foreign), "{foreign}");
    }
    assert!(html.len() < 3_000_000, "{} bytes", html.len());

    let out = folder.path().join("report");
    let page = report.write(&out).unwrap();
    assert_eq!(std::fs::read_to_string(page).unwrap(), html);
    let files = |name: &str| {
        let all = std::fs::read_dir(out.join(name)).unwrap().map(|entry| entry.unwrap().path());
        all.collect::<Vec<_>>()
    };
    assert_eq!(files("figures").len(), 2 * 57);
    for file in files("tables") {
        let text = std::fs::read_to_string(&file).unwrap();
        if file.extension().is_some_and(|e| e == "csv") {
            // None of the names has a comma inside quotes that would hide a field.
            let commas =
                |line: &str| line.split('"').step_by(2).map(|part| part.matches(',').count()).sum::<usize>();
            let wide = commas(text.lines().next().unwrap());
            assert!(
                text.lines().count() > 1 && text.lines().all(|line| commas(line) == wide),
                "{}",
                file.display()
            );
        } else {
            assert!(text.starts_with("\\begin{tabular}"), "{}", file.display());
        }
    }
    // A report beside runs is not a run.
    assert_eq!(of(folder.path()).html(), html);
}

#[test]
fn of_two_copies_the_whole_one_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    for copy in ["a-torn", "b-whole", "c-torn"] {
        Sketch::default().write(&folder.path().join(copy));
    }
    for torn in ["a-torn", "c-torn"] {
        std::fs::remove_file(folder.path().join(torn).join("archive.safetensors")).unwrap();
    }
    let report = of(folder.path());
    assert_eq!(report.runs(), 1);
    let said = said(&report);
    for torn in ["a-torn", "c-torn"] {
        assert!(
            said.lines().any(|line| line.contains(&format!("{torn}: left out")) && line.ends_with("b-whole")),
            "{said}"
        );
    }
}

/// Their file has the same name in every folder.
#[test]
fn task_files_that_differ_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    for seed in [1, 2] {
        let run = folder.path().join(seed.to_string());
        Sketch { seed, ..Sketch::default() }.write(&run);
        let config = run.join("config.toml");
        let text = std::fs::read_to_string(&config).unwrap();
        let changed = text.replacen("[world]", "[world]\ntask = \"task.toml\"", 1);
        assert_ne!(text, changed);
        std::fs::write(config, changed).unwrap();
        std::fs::write(run.join("task.toml"), format!("name = \"hop\" # {seed}")).unwrap();
    }
    let found = collect(&[folder.path().to_owned()]).unwrap();
    assert_eq!(scenes(found.runs, &mut Vec::new())[0].methods.len(), 2);
}

#[test]
fn what_only_some_runs_say_about_their_world_tells_them_apart() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, curiosity, weak) in [(1, 0.0, false), (2, 0.0, true), (1, 2.0, false)] {
        let run = folder.path().join(format!("{seed}-{curiosity}"));
        Sketch { seed, curiosity, ..Sketch::default() }.write(&run);
        if weak {
            let config = run.join("config.toml");
            let text = std::fs::read_to_string(&config).unwrap();
            let changed = text.replace("[world.strength]", "[world.strength]\nthigh = 0.5");
            assert_ne!(text, changed);
            std::fs::write(config, changed).unwrap();
        }
    }
    let found = collect(&[folder.path().to_owned()]).unwrap();
    let mut notes = Vec::new();
    let names: Vec<String> =
        scenes(found.runs, &mut notes)[0].methods.iter().map(|method| method.name.clone()).collect();
    assert_eq!(names, ["GAIL, thigh 0.5", "GAIL, thigh –", "GAIL-EBC"]);
    let folder = of(folder.path());
    let out = tempfile::tempdir().unwrap();
    folder.write(out.path()).unwrap();
    let effects = std::fs::read_to_string(out.path().join("tables/curiosity.csv")).unwrap();
    // With curiosity there is none whose thigh is weak: what is left has one partner, in two metrics.
    assert_eq!(effects.lines().count(), 1 + 2, "{effects}");
}

#[test]
fn the_effect_of_curiosity_is_split_over_the_cells_of_seeds_that_both_have() {
    let folder = tempfile::tempdir().unwrap();
    let add = |seed, curiosity, coverage| {
        let run = folder.path().join(format!("{seed}-{curiosity}"));
        let sketch =
            Sketch { seed, curiosity, coverage, level: 1400.0 + 100.0 * curiosity, ..Sketch::default() };
        load_outline(&sketch.write(&run).join("archive.safetensors")).unwrap()
    };
    let plain = [add(1, 0.0, 0.5), add(2, 0.0, 0.5)];
    add(3, 0.0, 0.5);
    assert!(!of(folder.path()).html().contains("What the effect is made of</h3>"));
    let curious = [add(1, 2.0, 0.7), add(2, 2.0, 0.7)];
    assert!(of(folder.path()).html().contains("What the effect is made of</h3>"));
    let text = written(folder.path(), "tables/curiosity-cells.csv");
    assert_eq!(text.lines().count(), 1 + 4, "{text}");
    // Number of cells, returns without and with, difference: mean, deviation and number of seeds of each.
    let part = |filled: &str| -> Vec<f64> {
        let row = text.lines().find(|line| line.contains(&format!(",GAIL-EBC,GAIL,2,{filled},"))).unwrap();
        let fields: Vec<&str> = row.split(',').collect();
        fields[fields.len() - 12..].iter().step_by(3).map(|mean| mean.parse().unwrap_or(f64::NAN)).collect()
    };
    let mean = |number: &dyn Fn(usize) -> f64| (number(0) + number(1)) / 2.0;
    let returns = |of: &[ArchiveOutline; 2], other: &[ArchiveOutline; 2], shared: bool| {
        mean(&|i| {
            let is_shared = |cell| other[i].elites.iter().any(|elite| elite.cell == cell);
            let chosen = of[i].elites.iter().filter(|elite| is_shared(elite.cell) == shared);
            let objectives: Vec<f64> = chosen.map(|elite| elite.objective).collect();
            objectives.iter().sum::<f64>() / objectives.len() as f64
        })
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * b.abs(), "{a} is not {b} in\n{text}");
    let both = part("with and without curiosity");
    close(both[1], returns(&plain, &curious, true));
    close(both[2], returns(&curious, &plain, true));
    let (lost, gained, all) = (part("only without"), part("only with"), part("all"));
    close(lost[1], returns(&plain, &curious, false));
    close(gained[2], returns(&curious, &plain, false));
    assert!(lost[2].is_nan() && gained[1].is_nan() && all[0].is_nan(), "{text}");
    close(both[0] + lost[0], mean(&|i| plain[i].elites.len() as f64));
    close(both[0] + gained[0], mean(&|i| curious[i].elites.len() as f64));
    close(both[3] + lost[3] + gained[3], all[3]);
    close(all[3], mean(&|i| curious[i].metrics().qd_score - plain[i].metrics().qd_score));
}

#[test]
fn archives_on_other_grids_are_not_compared_cell_by_cell() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, curiosity) in [("plain", 0.0), ("curious", 2.0)] {
        Sketch { curiosity, ..Sketch::default() }.write(&at(name));
    }
    written(folder.path(), "tables/curiosity-cells.csv");
    Sketch { task: "hopper", ..Sketch::default() }.write(&at("other"));
    std::fs::copy(at("other/archive.safetensors"), at("plain/archive.safetensors")).unwrap();
    std::fs::remove_dir_all(at("other")).unwrap();
    assert!(!of(folder.path()).html().contains("What the effect is made of</h3>"));
}

#[test]
fn a_task_that_is_none_is_no_part_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    Sketch::default().write(&folder.path().join("good"));
    let bad = folder.path().join("bad");
    Sketch::default().write(&bad);
    let config = std::fs::read_to_string(bad.join("config.toml")).unwrap();
    let task = "task = 'x\"><script>alert(1)</script>/../..'";
    let changed: Vec<&str> =
        config.lines().map(|line| if line.starts_with("task =") { task } else { line }).collect();
    std::fs::write(bad.join("config.toml"), changed.join("\n")).unwrap();
    let report = of(folder.path());
    assert!(said(&report).contains("there is no task"), "{}", said(&report));
    assert!(report.runs() == 1 && !report.html().contains("<script>alert"));
}

#[test]
fn runs_are_sorted_by_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for seed in [1, 2] {
        Sketch { seed, ..Sketch::default() }.write(&at(&format!("a{seed}")));
        Sketch { seed, curiosity: 1.0, ..Sketch::default() }.write(&at(&format!("b{seed}")));
        Sketch { seed, curiosity: 2.0, ..Sketch::default() }.write(&at(&format!("c{seed}")));
    }
    Sketch { branches: 60, ..Sketch::default() }.write(&at("d"));
    Sketch { model: ModelName::True, ..Sketch::default() }.write(&at("e"));
    Sketch { seed: 2, iterations: [150, 40], curiosity: 2.0, ..Sketch::default() }.write(&at("f"));
    let found = collect(&[folder.path().to_owned(), at("a1")]).unwrap();
    assert_eq!(found.runs.len(), 9, "named twice is read once");
    let mut notes = Vec::new();
    let scenes = scenes(found.runs, &mut notes);
    assert_eq!(scenes.len(), 1);
    let methods: Vec<(&str, usize)> =
        scenes[0].methods.iter().map(|m| (m.name.as_str(), m.runs.len())).collect();
    let expected = [
        ("true reward", 1),
        ("GAIL, branches 30", 2),
        ("GAIL, branches 60", 1),
        ("GAIL-EBC, q 1", 2),
        ("GAIL-EBC, q 2", 2),
    ];
    assert_eq!(methods, expected);
    let kept = &scenes[0].methods[4].runs[1];
    assert_eq!((kept.settings.seed, kept.iterations()), (2, 150.0), "the longer of two runs with one seed");
    assert!(
        notes
            .iter()
            .any(|note| Path::new(&note.place).ends_with("f") && note.problem.contains("with seed 2")),
        "{notes:?}"
    );
}

#[test]
fn numbers_of_elites_that_were_run_again_count_only_for_their_archive() {
    let folder = tempfile::tempdir().unwrap();
    let sketch = Sketch::default();
    let run = sketch.write(&folder.path().join("a"));
    reevaluated(&run);
    let stored =
        |report: &Report| report.notes().iter().any(|note| note.problem.contains("has changed since"));
    let found = collect(std::slice::from_ref(&run)).unwrap();
    let (score, again) =
        (found.runs[0].last(Metric::QdScore).unwrap(), found.runs[0].corrected(Metric::QdScore).unwrap());
    assert!((again / score - 0.9).abs() < 1e-9, "{again} {score}");
    assert!(!stored(&of(&run)));
    // The run goes on and its archive changes.
    Sketch { level: 1500.0, ..sketch }.write(&run);
    assert_eq!(collect(std::slice::from_ref(&run)).unwrap().runs[0].corrected(Metric::QdScore), None);
    let report = of(&run);
    assert!(stored(&report));
    assert!(report.html().contains(&format!("magpie eval {}", run.display())));
}

#[test]
fn one_run_and_a_run_that_has_hardly_begun_make_a_report() {
    let folder = tempfile::tempdir().unwrap();
    for (name, made) in [("one", 150), ("begun", 1)] {
        let run = Sketch { iterations: [150, made], measure: "jump", ..Sketch::default() }
            .write(&folder.path().join(name));
        let html = of(&run).html();
        assert!(html.contains("a comparison needs at least two groups") && !html.contains("NaN"), "{name}");
    }
    // Without its table a run is still in the results, as its archive has them.
    std::fs::remove_file(folder.path().join("one/metrics.csv")).unwrap();
    let report = of(&folder.path().join("one"));
    assert!(said(&report).contains("not in the curves"), "{}", said(&report));
    assert_eq!(report.html().matches("<figure").count(), 2);
    // With neither there is nothing to say.
    std::fs::remove_file(folder.path().join("one/archive.safetensors")).unwrap();
    let error = report_error(&folder.path().join("one"));
    assert!(error.contains("no search was found") && error.contains("no iteration yet"), "{error}");
}

/// The text of a file of a report that is written anew.
fn written(runs: &Path, name: &str) -> String {
    let out = tempfile::tempdir().unwrap();
    of(runs).write(out.path()).unwrap();
    std::fs::read_to_string(out.path().join(name)).unwrap()
}

/// The names of the files in a folder of a report, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_no_folder_of_runs_is_said_and_the_rest_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    Sketch::default().write(&at("good"));
    std::fs::write(at("file"), "text").unwrap();
    std::fs::create_dir(at("empty")).unwrap();
    let bad = [at("nowhere"), at("file"), at("empty")];
    let report = report(&[&bad[..], &[at("good")]].concat()).unwrap();
    assert_eq!(report.runs(), 1);
    let error = magpie_report::report(&bad).err().unwrap().to_string();
    assert!(error.contains("folders that `magpie train` made"), "{error}");
    for expected in [
        "nowhere: left out: there is no such folder",
        "file: left out: it is no folder",
        "empty: left out: no run is in it",
    ] {
        assert!(said(&report).contains(expected), "{expected} is not in\n{}", said(&report));
        assert!(error.contains(expected), "{expected} is not in\n{error}");
    }
    assert!(report.html().contains(&format!("<b>{}</b>", bad[0].display())));
}

#[test]
fn one_seed_has_no_interval() {
    let folder = tempfile::tempdir().unwrap();
    let add = |seed, curiosity| {
        let run = folder.path().join(format!("{seed}-{curiosity}"));
        Sketch { seed, curiosity, ..Sketch::default() }.write(&run);
    };
    // Whether each row of a table has an interval: its two ends stand before the last `after` fields.
    let known = |name: &str, after: usize| -> Vec<bool> {
        let text = written(folder.path(), name);
        let ends = |line: &str| line.rsplit(',').skip(after).take(2).map(|end| !end.is_empty()).collect();
        text.lines()
            .skip(1)
            .map(|line| {
                let ends: Vec<bool> = ends(line);
                assert_eq!(ends[0], ends[1], "{line}");
                ends[0]
            })
            .collect()
    };
    let lines = || {
        let svg = written(folder.path(), "figures/walker2d-feet_contact-iqm.svg");
        (svg.matches("stroke-linejoin").count(), svg)
    };
    add(1, 0.0);
    add(1, 2.0);
    assert_eq!(known("tables/iqm.csv", 0), [false, false]);
    assert_eq!(known("tables/curiosity.csv", 1), [false, false]);
    for name in ["tables/iqm.tex", "tables/curiosity.tex"] {
        assert!(!written(folder.path(), name).contains('['), "{name}");
    }
    let (drawn, svg) = lines();
    assert!(drawn == 0 && svg.contains("one seed each") && !svg.contains("interval"), "{svg}");

    add(2, 0.0);
    assert_eq!(known("tables/iqm.csv", 0), [true, false]);
    assert_eq!(known("tables/curiosity.csv", 1), [false, false], "one side has one seed");
    let (drawn, svg) = lines();
    assert!(drawn == 1 && svg.contains("where there are several seeds"), "{svg}");

    add(2, 2.0);
    assert_eq!(known("tables/iqm.csv", 0), [true, true]);
    assert_eq!(known("tables/curiosity.csv", 1), [true, true]);
    assert!(written(folder.path(), "tables/iqm.tex").contains('['));
    assert_eq!(lines().0, 2);
}

#[test]
fn rows_and_tables_without_content_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let run = Sketch::default().write(&folder.path().join("run"));
    let out = folder.path().join("out");
    let page = of(&run).write(&out).unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(!page.contains("<td>run again</td>") && page.contains("have not been run again"));
    for name in ["results.csv", "results.tex"] {
        let text = std::fs::read_to_string(out.join("tables").join(name)).unwrap();
        assert!(text.contains("as stored") && !text.contains("run again"), "{text}");
    }
    let expected = [
        "ccdf.csv",
        "curves.csv",
        "iqm.csv",
        "iqm.tex",
        "results-as-in-the-paper.tex",
        "results.csv",
        "results.tex",
        "runs.csv",
        "runs.tex",
    ];
    assert_eq!(names(&out.join("tables")), expected);
    assert_eq!(page.matches("href=\"tables/").count(), expected.len());
    reevaluated(&run);
    assert!(written(&run, "tables/results.csv").contains("run again,1,"));
    std::fs::remove_file(run.join("metrics.csv")).unwrap();
    of(&run).write(&out).unwrap();
    assert!(!out.join("tables/curves.csv").exists() && out.join("tables/ccdf.csv").exists());
}

#[test]
fn iterations_are_whole_numbers_on_the_axes() {
    let folder = tempfile::tempdir().unwrap();
    let run = Sketch { iterations: [2, 2], ..Sketch::default() }.write(folder.path());
    let svg = written(&run, "figures/walker2d-feet_contact-coverage-iterations.svg");
    assert!(svg.contains(">1<") && svg.contains(">2<") && !svg.contains(">1.2<"), "{svg}");
}

#[test]
fn a_report_takes_the_place_of_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let [plain, curious] = [0.0, 2.0]
        .map(|curiosity| Sketch { curiosity, ..Sketch::default() }.write(&at(&format!("runs/{curiosity}"))));
    let both = report(&[plain.clone(), curious]).unwrap();
    let one = of(&plain);
    for name in ["fresh", "again"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    one.write(&at("fresh")).unwrap();
    both.write(&at("again")).unwrap();
    assert_ne!(names(&at("again/figures")), names(&at("fresh/figures")));
    // What a report would not call so is not its own.
    std::fs::create_dir(at("again/figures/mine.svg")).unwrap();
    std::fs::write(at("again/figures/mine.txt"), "mine").unwrap();
    std::fs::write(at("again/mine.csv"), "mine").unwrap();
    one.write(&at("again")).unwrap();
    assert!(at("again/mine.csv").exists());
    let mut figures = names(&at("fresh/figures"));
    figures.extend(["mine.svg", "mine.txt"].map(str::to_owned));
    figures.sort();
    assert_eq!(names(&at("again/figures")), figures);
    assert_eq!(names(&at("again/tables")), names(&at("fresh/tables")));

    // Beside a page that is somebody else's nothing is removed.
    std::fs::create_dir_all(at("foreign/figures")).unwrap();
    std::fs::write(at("foreign/figures/mine.svg"), "mine").unwrap();
    std::fs::write(at("foreign/report.html"), "<title>mine</title>").unwrap();
    one.write(&at("foreign")).unwrap();
    assert!(at("foreign/figures/mine.svg").exists());
}

fn report_error(folder: &Path) -> String {
    report(&[folder.to_owned()]).err().unwrap().to_string()
}

#[test]
fn a_folder_without_runs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(report_error(folder.path()).contains("folders that `magpie train` made"));
    assert!(report_error(&folder.path().join("nowhere")).contains("nowhere"));
}

/// Regions have no rows and columns, but a map and a share of cells all the same.
#[test]
fn an_archive_over_a_tessellation_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let run = Sketch::default().write(&folder.path().join("run"));
    let path = run.join("archive.safetensors");
    let saved = magpie_run::load_archive(&path).unwrap();
    let cells = magpie_qd::Cvt::uniform(&[0.0; 2], &[1.0; 2], 40, 2000, 1).unwrap();
    let elitist = magpie_qd::Acceptance::Elitist;
    let mut archives = magpie_qd::ArchivePair::new(cells.clone(), elitist, 3, 3).unwrap();
    for elite in &saved.elites {
        let candidate = magpie_qd::Candidate {
            solution: &elite.policy.parameters,
            extra: &[0.0, 1.0, 1.0],
            objective: elite.objective,
            measures: &elite.measures,
            length: elite.length,
            provenance: magpie_qd::Provenance { iteration: 1, branch: None },
        };
        archives.add(&[candidate]).unwrap();
    }
    let about = magpie_run::About { cells: cells.into(), ..saved.about };
    magpie_run::save_archive(&path, &archives, &about).unwrap();
    let out = folder.path().join("report");
    let page = report(&[run]).unwrap().write(&out).unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("of 40 cells filled"), "no map");
    assert!(page.matches("data-value").count() > 5, "no regions");
}
