//! Reports on folders of runs, good and bad.

mod common;

use std::path::Path;

use common::{Demos, Sketch, reevaluated, reevaluated_by, sweep};
use magpie_report::runs::{Metric, collect, scenes};
use magpie_report::{Report, report};
use magpie_rewards::ModelName;
use magpie_run::train::Config;
use magpie_run::{ArchiveOutline, load_outline};
use magpie_settings::Method;

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
        "one-policy: left out: it is a run of one policy",
        "walker2d, feet contact: runs differ in length, from 60 to 150",
    ] {
        assert!(said.contains(expected), "{expected} is not in\n{said}");
    }
    assert_eq!(report.runs(), 43);
    let html = report.html();
    // A long table of pairs has a short one beside it.
    assert!(html.contains("Tukey’s HSD without and with curiosity"));
    // Twelve curves, a CCDF and intervals for each of three tasks; a map for each of five methods.
    // Demonstrations of two of them were measured as the runs measure.
    assert_eq!(html.matches("<figure").count(), 3 * (12 + 2 + 5) + 2);
    for expected in [
        "GAIL-EBC",
        "as stored",
        "verified",
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
    assert_eq!(files("figures").len(), 2 * 59);
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
    assert_eq!(names, ["GAIL, strength thigh 0.5", "GAIL", "GAIL-EBC"]);
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
    Sketch { change: |config| config.search.archive.resolution = 20, ..Sketch::default() }
        .write(&at("other"));
    std::fs::copy(at("other/archive.safetensors"), at("plain/archive.safetensors")).unwrap();
    std::fs::remove_dir_all(at("other")).unwrap();
    assert!(!of(folder.path()).html().contains("What the effect is made of</h3>"));
}

#[test]
fn a_hostile_name_of_a_task_is_escaped_and_the_archive_of_another_left_out() {
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
    let said = said(&report);
    assert!(said.contains("its archive is not shown: that is one of walker2d, feet_contact"), "{said}");
    let html = report.html();
    assert!(report.runs() == 2 && html.contains("&lt;script&gt;alert") && !html.contains("<script>alert"));
    let out = folder.path().join("out");
    report.write(&out).unwrap();
    assert!(names(&out.join("figures")).iter().any(|name| name.starts_with("x-script-alert-1-script")));
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
        (found.runs[0].last(Metric::QdScore).unwrap(), found.runs[0].verified(Metric::QdScore).unwrap());
    assert!((again / score - 0.9).abs() < 1e-9, "{again} {score}");
    assert!(!stored(&of(&run)));
    // The run goes on and its archive changes.
    Sketch { level: 1500.0, ..sketch }.write(&run);
    assert_eq!(collect(std::slice::from_ref(&run)).unwrap().runs[0].verified(Metric::QdScore), None);
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
        "file: left out: this is not a folder",
        "empty: left out: there is no run in it",
    ] {
        assert!(said(&report).contains(expected), "{expected} is not in\n{}", said(&report));
        assert!(error.contains(expected), "{expected} is not in\n{error}");
    }
    assert!(report.html().contains(&format!("<b>{}</b>", bad[0].display())));
}

#[test]
fn one_seed_or_two_have_no_interval() {
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
    assert!(drawn == 0 && svg.contains("no intervals"), "{svg}");

    // Two seeds are too few as well.
    add(2, 0.0);
    add(2, 2.0);
    assert_eq!(known("tables/iqm.csv", 0), [false, false]);
    assert_eq!(known("tables/curiosity.csv", 1), [false, false]);
    let (drawn, svg) = lines();
    assert!(drawn == 0 && svg.contains("fewer than 3 seeds"), "{svg}");
    assert!(of(folder.path()).html().contains("No bootstrap interval where a method has fewer than 3 seeds"));

    add(3, 0.0);
    assert_eq!(known("tables/iqm.csv", 0), [true, false]);
    assert_eq!(known("tables/curiosity.csv", 1), [false, false], "one side has two seeds");
    let (drawn, svg) = lines();
    assert!(drawn == 1 && svg.contains("where there are at least 3 seeds"), "{svg}");

    add(3, 2.0);
    assert_eq!(known("tables/iqm.csv", 0), [true, true]);
    assert_eq!(known("tables/curiosity.csv", 1), [true, true]);
    assert!(written(folder.path(), "tables/iqm.tex").contains('['));
    assert_eq!(lines().0, 2);
    assert!(!of(folder.path()).html().contains("No bootstrap interval where"));
}

#[test]
fn rows_and_tables_without_content_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let run = Sketch::default().write(&folder.path().join("run"));
    let out = folder.path().join("out");
    let page = of(&run).write(&out).unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(!page.contains("<td>verified</td>") && page.contains("have not been verified"));
    for name in ["results.csv", "results.tex"] {
        let text = std::fs::read_to_string(out.join("tables").join(name)).unwrap();
        assert!(text.contains("as stored") && !text.contains("verified"), "{text}");
    }
    let expected = [
        "ccdf.csv",
        "curves.csv",
        "demonstrations.csv",
        "demonstrations.tex",
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
    assert!(written(&run, "tables/results.csv").contains("verified,1,,10,"));
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

    // Beside a page that magpie did not write nothing is removed.
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
            evidence: magpie_qd::Evidence::ONE,
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

/// The families beside which the paper's numbers stand in the results, with the first of them, the QD-Score.
fn published(runs: &Path) -> Vec<(String, f64)> {
    let text = written(runs, "tables/results.csv");
    let rows = text.lines().filter_map(|line| line.split_once(",paper,3,2000,10,"));
    rows.map(|(names, numbers)| {
        let method = names.rsplit(',').next().unwrap().to_owned();
        (method, numbers.split(',').next().unwrap().parse().unwrap())
    })
    .collect()
}

/// Runs of one method each, and which of the paper's numbers are beside them.
fn beside(sketch: Sketch) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    sketch.write(&folder.path().join("run"));
    let report = of(folder.path());
    let numbers: Vec<f64> = published(folder.path()).into_iter().map(|(_, number)| number).collect();
    // Where the paper has numbers that are not shown, the page says why.
    let said = report.html().contains("is another experiment than");
    let has = ["feet_contact", "jump", "angle"].contains(&sketch.measure);
    assert_eq!(said, numbers.is_empty() && has && sketch.task != "hopper", "{numbers:?}");
    numbers
}

#[test]
fn the_papers_numbers_stand_beside_the_same_experiment_only() {
    let humanoid = || Sketch { task: "humanoid", ..Sketch::default() };
    let curious = || Sketch { curiosity: 2.0, ..Sketch::default() };
    assert_eq!(beside(Sketch::default()), [2_470_000.0]);
    assert_eq!(beside(curious()), [3_420_000.0]);
    assert_eq!(beside(Sketch { model: ModelName::True, ..Sketch::default() }), [3_660_000.0]);
    assert_eq!(beside(Sketch { method: Method::Magpie, ..Sketch::default() }), [2_470_000.0]);
    let none: [f64; 0] = [];
    // Another weight of curiosity, or another kind.
    for curiosity in [1.0, 5.0] {
        assert_eq!(beside(Sketch { curiosity, ..curious() }), none);
    }
    assert_eq!(beside(Sketch { method: Method::Magpie, ..curious() }), none);
    // Another world.
    let worlds: [fn(&mut Config); 5] = [
        |config| config.world.friction = 0.3,
        |config| config.world.hurdles = Some(Default::default()),
        |config| config.world.strength.extend([("leg_joint".to_owned(), 0.5)]),
        |config| config.search.archive.resolution = 20,
        |config| config.search.emitters = vec!["iso_line".parse().unwrap()],
    ];
    for change in worlds {
        for model in [ModelName::Gail, ModelName::True] {
            assert_eq!(beside(Sketch { model, change, ..Sketch::default() }), none);
        }
    }
    // Other demonstrations, or fewer: for humanoid the paper has a table of its own.
    assert_eq!(beside(Sketch { demos: Demos::Own, ..Sketch::default() }), none);
    let one: fn(&mut Config) = |config| config.demos.count = Some(1);
    let three: fn(&mut Config) = |config| config.demos.count = Some(3);
    assert_eq!(beside(Sketch { change: one, ..Sketch::default() }), none);
    assert_eq!(beside(humanoid()), [1_860_000.0]);
    assert_eq!(beside(Sketch { change: one, ..humanoid() }), [1_718_577.0]);
    assert_eq!(beside(Sketch { change: one, curiosity: 2.0, ..humanoid() }), [4_948_921.0]);
    assert_eq!(beside(Sketch { change: three, ..humanoid() }), none);
    // The study of other measures.
    assert_eq!(beside(Sketch { measure: "jump", ..humanoid() }), [18_812.0]);
}

#[test]
fn a_sweep_of_q_has_the_papers_number_beside_its_own_q_alone() {
    let folder = tempfile::tempdir().unwrap();
    for curiosity in [1.0, 2.0, 5.0] {
        Sketch { curiosity, ..Sketch::default() }.write(&folder.path().join(format!("q{curiosity}")));
    }
    Sketch::default().write(&folder.path().join("plain"));
    assert_eq!(
        published(folder.path()),
        [("GAIL".to_owned(), 2_470_000.0), (" q 2\"".to_owned(), 3_420_000.0)]
    );
    let effects = written(folder.path(), "tables/curiosity.csv");
    let stated: Vec<&str> = effects.lines().skip(1).filter(|line| line.ends_with(",38")).collect();
    assert!(stated.len() == 1 && stated[0].contains("q 2"), "{effects}");
}

#[test]
fn a_report_says_how_many_episodes_elites_had_again_and_warns_of_few() {
    let folder = tempfile::tempdir().unwrap();
    let run = Sketch::default().write(&folder.path().join("run"));
    for (episodes, warned) in [(1, true), (9, true), (10, false)] {
        reevaluated_by(&run, episodes);
        let results = written(&run, "tables/results.csv");
        assert!(results.contains(&format!(",verified,1,,{episodes},")), "{results}");
        assert!(results.contains(",as stored,1,150,10,"), "by how many each elite was judged: {results}");
        assert_eq!(said(&of(&run)).contains("noise for the most part"), warned, "{episodes}");
        assert!(written(&run, "tables/runs.csv").lines().nth(1).unwrap().ends_with(&format!(",{episodes}")));
    }
}

#[test]
fn long_names_of_methods_make_a_report_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let change: [fn(&mut Config); 3] = [
        |_| {},
        |config| {
            let search = &mut config.search;
            (search.episodes, search.gradient_iterations, search.walk_iterations) = (3, 4, 5);
            (search.sigma0, search.patience, search.critic) = (0.123_456_789, 7, 99);
            search.train.gamma = 0.987_654_3;
            config.world.hurdles = Some(Default::default());
            let parts = [
                "thigh_joint",
                "leg_joint",
                "foot_joint",
                "thigh_left_joint",
                "leg_left_joint",
                "foot_left_joint",
            ];
            config.world.strength.extend(parts.map(|part| (part.to_owned(), 0.123_456_789_123)));
            config.world.friction = 0.123_456_789_123;
        },
        |config| {
            let search = &mut config.search;
            (search.episodes, search.gradient_iterations, search.walk_iterations) = (3, 4, 6);
            config.world.strength.extend([("leg_joint".to_owned(), 0.5)]);
        },
    ];
    for (i, change) in change.into_iter().enumerate() {
        Sketch { change, ..Sketch::default() }.write(&folder.path().join(format!("run-{i}")));
    }
    let out = tempfile::tempdir().unwrap();
    let report = of(folder.path());
    report.write(out.path()).unwrap();
    let figures = names(&out.path().join("figures"));
    assert_eq!(figures.iter().filter(|name| name.contains("-archive-") && name.ends_with(".svg")).count(), 3);
    assert!(figures.iter().all(|name| name.len() < 140), "{figures:?}");
    let found = collect(&[folder.path().to_owned()]).unwrap();
    let longest =
        scenes(found.runs, &mut Vec::new())[0].methods.iter().map(|m| m.name.clone()).max_by_key(String::len);
    let longest = longest.unwrap();
    assert!(longest.len() > 240, "no file could be called {longest}");
    assert!(report.html().contains(&format!("<td class=\"long\">{longest}</td>")), "whole on the page");
    assert!(report.html().contains(&format!("<figcaption>{longest}, seed 1</figcaption>")));
    let settings = written(folder.path(), "tables/methods.csv");
    assert!(settings.contains("world.strength.foot_left_joint") && settings.contains("world.hurdles.height"));
}

#[test]
fn legends_do_not_name_what_is_not_set() {
    let folder = tempfile::tempdir().unwrap();
    let change: [fn(&mut Config); 3] = [
        |_| {},
        |config| config.world.hurdles = Some(magpie_physics::Hurdles { height: 0.2, ..Default::default() }),
        |config| config.world.hurdles = Some(magpie_physics::Hurdles { height: 0.4, ..Default::default() }),
    ];
    let methods = |count: usize| {
        let runs: Vec<_> = (0..count).map(|i| folder.path().join(format!("run-{i}"))).collect();
        for (run, change) in runs.iter().zip(change) {
            Sketch { change, model: ModelName::True, ..Sketch::default() }.write(run);
        }
        let found = collect(&runs).unwrap();
        scenes(found.runs, &mut Vec::new())[0].methods.iter().map(|m| m.name.clone()).collect::<Vec<_>>()
    };
    let mut two = methods(2);
    two.sort();
    assert_eq!(two, ["true reward", "true reward, hurdles"]);
    let mut three = methods(3);
    three.sort();
    assert_eq!(three, ["true reward", "true reward, hurdles height 0.2", "true reward, hurdles height 0.4"]);
}

#[test]
fn every_panel_has_a_title_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let run = Sketch::default().write(folder.path());
    let out = tempfile::tempdir().unwrap();
    of(&run).write(out.path()).unwrap();
    for (metric, title) in
        [("qd_score", "QD-Score"), ("coverage", "Coverage"), ("best", "Best return"), ("mean", "Mean return")]
    {
        let name = format!("figures/walker2d-feet_contact-{metric}-iterations.svg");
        let svg = std::fs::read_to_string(out.path().join(name)).unwrap();
        assert!(svg.contains(&format!(">{title}: walker2d, feet contact</text>")), "{svg}");
    }
}

#[test]
fn where_returns_are_negative_the_score_with_offset_comes_first_and_is_tested() {
    let folder = tempfile::tempdir().unwrap();
    for (level, seed, curiosity) in [(-400.0, 1, 0.0), (-300.0, 2, 0.0), (-200.0, 1, 2.0), (-100.0, 2, 2.0)] {
        let run = folder.path().join(format!("{seed}-{curiosity}"));
        Sketch { task: "ant", level, seed, curiosity, ..Sketch::default() }.write(&run);
    }
    let report = of(folder.path());
    let html = report.html();
    assert!(html.contains("Returns can be negative here"), "said on the page");
    assert!(html.contains("Tukey’s HSD on the QD-Score with offset"));
    let first = |name: &str| html.find(&format!("id=\"ant-feet_contact-{name}-iterations\"")).unwrap();
    assert!(first("qd_score_offset") < first("qd_score"));
    let effects = written(folder.path(), "tables/curiosity.csv");
    let offset = effects.lines().find(|line| line.contains(",QD-Score with offset,")).unwrap();
    assert!(!offset.ends_with(",,,,"), "there is an effect in per cent: {offset}");
    // The plain one has none, and says so with few digits.
    assert!(html.contains("report the difference"), "{html}");
    let digits = html.split("the mean without is -").nth(1).unwrap().split(',').next().unwrap();
    assert!(digits.len() < 10, "{digits}");
    // Elsewhere nothing changes.
    let walker = tempfile::tempdir().unwrap();
    Sketch::default().write(walker.path());
    assert!(!of(walker.path()).html().contains("Returns can be negative"));
}

#[test]
fn the_compact_test_has_a_row_for_each_pair_and_two_columns_for_each_task() {
    let folder = tempfile::tempdir().unwrap();
    for task in ["walker2d", "halfcheetah"] {
        for (model, curiosity, level) in [
            (ModelName::Gail, 0.0, 900.0),
            (ModelName::Gail, 2.0, 1500.0),
            (ModelName::Vail, 0.0, 1400.0),
            (ModelName::Vail, 2.0, 1200.0),
        ] {
            // The second task has no pair of VAIL.
            if task == "halfcheetah" && (model, curiosity) == (ModelName::Vail, 2.0) {
                continue;
            }
            for seed in 1..=3 {
                let run = folder.path().join(format!("{task}-{}-{curiosity}-{seed}", model.name()));
                Sketch { task, model, curiosity, level: level + seed as f64, seed, ..Sketch::default() }
                    .write(&run);
            }
        }
    }
    let text = written(folder.path(), "tables/tukey-pairs.csv");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert_eq!((&rows[0][..2], &rows[1][..2]), (&["GAIL", "GAIL-EBC"][..], &["VAIL", "VAIL-EBC"][..]));
    // Sorted by task: halfcheetah, walker2d.
    assert_eq!([rows[0][2], rows[0][4], rows[1][2], rows[1][4]], ["+", "+", "", "−"], "{text}");
    let p = |row: usize, column: usize| rows[row][column].parse::<f64>().unwrap();
    assert!(p(0, 3) < 0.05 && p(0, 5) < 0.05 && rows[1][3].is_empty() && p(1, 5) < 0.05);
    let long = written(folder.path(), "tables/tukey.csv");
    assert!(long.contains(&format!(",{},", rows[0][5])), "the p of the long table: {long}");
    assert!(written(folder.path(), "tables/tukey-pairs.tex").contains("\\mathbf"));
}

#[test]
fn demonstrations_are_summed_up_beside_the_papers_and_drawn_among_the_elites() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    Sketch::default().write(&at("bundled"));
    Sketch { demos: Demos::Own, seed: 2, ..Sketch::default() }.write(&at("own"));
    Sketch { change: |config| config.demos.count = Some(1), seed: 3, ..Sketch::default() }.write(&at("one"));
    let table = written(folder.path(), "tables/demonstrations.csv");
    let row = |start: &str, attribute: &str| -> Vec<f64> {
        let row = table.lines().find(|line| line.contains(start) && line.contains(attribute));
        let row = row.unwrap_or_else(|| panic!("{start}, {attribute}: {table}"));
        row.rsplit(',').take(4).map(|number| number.parse().unwrap_or(f64::NAN)).collect()
    };
    // From the last column on: std, mean, max, min.
    let returns = row(",own ", ",return,");
    assert_eq!((returns[1], returns[2], returns[3]), (1150.0, 1300.0, 1000.0));
    assert!((returns[0] - 12_500f64.sqrt()).abs() < 1e-9, "divisor n: {table}");
    assert_eq!(row(",own ", ",length,"), [0.0, 2.0, 2.0, 2.0]);
    assert_eq!(row(",paper,4,", ",return,"), [1123.7, 2372.3, 3721.8, 1147.9]);
    assert_eq!(row("the first 1\",1,", ",return,")[0], 0.0);
    let out = tempfile::tempdir().unwrap();
    of(folder.path()).write(out.path()).unwrap();
    let figures = names(&out.path().join("figures"));
    let drawn: Vec<&String> =
        figures.iter().filter(|name| name.contains("-demonstrations-") && name.ends_with(".svg")).collect();
    assert_eq!(drawn.len(), 3, "{figures:?}");
    let svg = std::fs::read_to_string(out.path().join("figures").join(drawn[2])).unwrap();
    for expected in ["the best 500", "4 demonstrations", "elites of GAIL"] {
        assert!(svg.contains(expected), "{expected} in {}", drawn[2]);
    }
    // Where there are runs with the true reward, theirs are the elites.
    Sketch { model: ModelName::True, ..Sketch::default() }.write(&at("true"));
    let out = tempfile::tempdir().unwrap();
    of(folder.path()).write(out.path()).unwrap();
    let svg = std::fs::read_to_string(out.path().join("figures").join(drawn[2])).unwrap();
    assert!(svg.contains("elites of true reward"), "{svg}");
}

/// A task file, emitters of one's own choice and the bonus by visits: what is not the usual is shown all the same.
#[test]
fn task_files_and_other_emitters_and_bonuses_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let change: [fn(&mut Config); 3] = [
        |_| {},
        |config| config.search.emitters = vec!["ppga".parse().unwrap(), "iso_line".parse().unwrap()],
        |config| config.search.curiosity.novelty = magpie_search::Novelty::Visits,
    ];
    for (i, change) in change.into_iter().enumerate() {
        Sketch { change, curiosity: 2.0, ..Sketch::default() }.write(&at(&format!("run-{i}")));
    }
    let methods = || {
        let found = collect(&[folder.path().to_owned()]).unwrap();
        let names = |scene: &magpie_report::runs::Scene| {
            scene.methods.iter().map(|m| m.name.clone()).collect::<Vec<_>>()
        };
        scenes(found.runs, &mut Vec::new()).iter().flat_map(names).collect::<Vec<_>>()
    };
    let found = methods();
    assert!(found.iter().any(|name| name.contains("emitters ppga + iso_line")), "{found:?}");
    assert!(found.iter().any(|name| name.contains("novelty visits")), "{found:?}");
    // Two task files of one name, and the task that comes with magpie under it.
    for (i, text) in ["name = \"walker2d\"", "name = \"walker2d\" # another"].into_iter().enumerate() {
        let run = at(&format!("file-{i}"));
        Sketch { model: ModelName::Vail, ..Sketch::default() }.write(&run);
        std::fs::write(run.join("task.toml"), text).unwrap();
        let config = std::fs::read_to_string(run.join("config.toml")).unwrap();
        std::fs::write(run.join("config.toml"), config.replace("[world]", "[world]\ntask = \"task.toml\""))
            .unwrap();
    }
    Sketch { model: ModelName::Vail, ..Sketch::default() }.write(&at("file-none"));
    let found = methods();
    let of_files = found.iter().filter(|name| name.starts_with("VAIL, task file ")).count();
    assert!(of_files == 2 && found.contains(&"VAIL".to_owned()), "{found:?}");
    let report = of(folder.path());
    assert!(report.notes().is_empty() || !said(&report).contains("left out"), "{}", said(&report));
    let beside: Vec<String> = published(folder.path()).into_iter().map(|(name, _)| name).collect();
    let of_vail: Vec<&String> = beside.iter().filter(|name| !name.contains("emitters")).collect();
    assert_eq!(of_vail, ["VAIL"], "a file of the same name is another task: {beside:?}");
}
