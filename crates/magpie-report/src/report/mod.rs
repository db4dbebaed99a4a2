//! The report: one page, and its pictures and tables as files.

mod adaptation;
mod archives;
mod cells;
mod comparisons;
mod demonstrations;
mod learning;
mod page;
mod published;
mod results;
mod sheet;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use magpie_run::write_whole;

use crate::error::ReportError;
use crate::runs::{Axis, Collection, Metric, Note, Scene, collect, scenes};
use magpie_plot::Figure;
use sheet::Sheet;

/// Pixels of a PNG for each of the picture's own: sharp on fine screens and in print.
const PNG_SCALE: u8 = 2;

/// The folders beside the page, and how the names of the files in them end.
const BESIDE: [(&str, [&str; 2]); 2] = [("figures", ["svg", "png"]), ("tables", ["csv", "tex"])];

/// A picture with its name.
struct Picture {
    /// Of its files.
    name: String,
    /// What it shows, for those who do not see it.
    alt: String,
    /// What stands below it on the page, where its title has no room for a long name.
    caption: Option<String>,
    figure: Figure,
}

/// What there is to say about one task.
struct Chapter {
    title: String,
    slug: String,
    /// Curves of all metrics along each axis.
    learning: Vec<(Axis, Vec<Picture>)>,
    maps: Vec<Picture>,
    /// Where demonstrations lie.
    demonstrations: Vec<Picture>,
    /// How many cells are how good, and inter-quartile means.
    summaries: Vec<Picture>,
    tukey: Sheet,
    /// Why there is no test.
    untested: Option<String>,
    /// What methods are compared by.
    score: Metric,
    /// Whether returns can be negative.
    negative: bool,
    /// Why the paper's numbers do not stand beside ours.
    left_out: Vec<String>,
}

/// All that a page shows.
pub struct Report {
    runs: usize,
    notes: Vec<Note>,
    chapters: Vec<Chapter>,
    results: Sheet,
    /// How to get the numbers that are missing in the results.
    to_run_again: Option<String>,
    iqm: Sheet,
    curiosity: Sheet,
    /// Why there is no effect.
    uncertain: Vec<String>,
    cells: Sheet,
    tukey_pairs: Sheet,
    /// Whether some method has too few seeds for an interval.
    few_seeds: bool,
    demonstrations: Sheet,
    /// What became of archives in changed worlds.
    adaptation: Sheet,
    /// The same as pictures: a task each, and all of them as panels of one.
    adaptations: Vec<Picture>,
    /// What tells methods apart.
    methods: Sheet,
    every_run: Sheet,
    /// Names and contents of the tables that are files only.
    files: Vec<(String, String)>,
}

/// Reads the runs at these places (folders of runs, or folders with such folders in them) and compares them.
///
/// # Errors
/// If there is no run at all. What is wrong with single runs is said in the report ([`Report::notes`]).
pub fn report(places: &[PathBuf]) -> Result<Report, ReportError> {
    let Collection { runs, mut notes } = collect(places)?;
    let scenes = scenes(runs, &mut notes);
    let mut curves = learning::CSV_HEAD.to_owned();
    let mut shares = archives::CCDF_HEAD.to_owned();
    let mut names = Names::new();
    let chapters = scenes
        .iter()
        .map(|scene| chapter(scene, &mut names, &mut curves, &mut shares))
        .collect::<Result<Vec<_>, _>>()?;
    let paper_table = results::as_in_the_paper(&scenes)?;
    let (curiosity, uncertain) = comparisons::curiosity(&scenes)?;
    let cells = cells::sheet(&scenes)?;
    let mut every_test = comparisons::tukey(&scenes[0], &[]).0;
    for scene in &scenes {
        every_test.rows.extend(comparisons::tukey(scene, &metrics(scene)).0.rows);
    }
    let results = results::sheet(&scenes)?;
    let iqm = comparisons::iqm(&scenes)?;
    let every_run = results::runs(&scenes);
    let tukey_pairs = comparisons::tukey_pairs(&scenes);
    let methods = results::methods(&scenes);
    let demonstrations = demonstrations::sheet(&scenes);
    let adaptation = adaptation::sheet(&scenes)?;
    let adaptations = adaptation::pictures(&scenes)?.into_iter().map(|mut picture| {
        picture.name = names.give(&picture.name);
        picture
    });
    let adaptations = adaptations.collect();
    let mut files = Vec::new();
    // A table without rows gets no file: including it would show a header over nothing.
    for (name, text, head) in [("curves", curves, learning::CSV_HEAD), ("ccdf", shares, archives::CCDF_HEAD)]
    {
        if text != head {
            files.push((format!("tables/{name}.csv"), text));
        }
    }
    files.push(("tables/results-as-in-the-paper.tex".to_owned(), paper_table.latex()));
    for sheet in [
        &results,
        &iqm,
        &curiosity,
        &cells,
        &every_test,
        &tukey_pairs,
        &demonstrations,
        &adaptation,
        &methods,
        &every_run,
    ] {
        if sheet.rows.is_empty() {
            continue;
        }
        files.push((format!("tables/{}.csv", sheet.slug), sheet.csv()));
        files.push((format!("tables/{}.tex", sheet.slug), sheet.latex()));
    }
    Ok(Report {
        runs: every_run.rows.len(),
        notes,
        chapters,
        results,
        to_run_again: results::what_to_run_again(&scenes),
        iqm,
        curiosity,
        uncertain,
        cells,
        tukey_pairs,
        few_seeds: comparisons::too_few_for_intervals(&scenes),
        demonstrations,
        adaptation,
        adaptations,
        methods,
        every_run,
        files,
    })
}

/// What curves and tests show: the paper's metrics, and before them the score with offset where returns can be negative.
fn metrics(scene: &Scene) -> Vec<Metric> {
    let offset = scene.has_negative_returns().then_some(Metric::QdScoreOffset);
    offset.into_iter().chain(Metric::OF_THE_PAPER).collect()
}

fn chapter(
    scene: &Scene,
    names: &mut Names,
    curves: &mut String,
    shares: &mut String,
) -> Result<Chapter, ReportError> {
    let slug = names.give(&scene.slug());
    let named = |mut picture: Picture, names: &mut Names| {
        picture.name = names.give(&picture.name);
        picture
    };
    let mut learning = Vec::new();
    for axis in Axis::ALL {
        let mut pictures = Vec::new();
        for metric in metrics(scene) {
            let courses = learning::courses(scene, axis, metric)?;
            *curves += &learning::csv(scene, axis, metric, &courses);
            let picture = learning::picture(scene, axis, metric, &courses)?;
            pictures.extend(picture.map(|picture| named(picture, names)));
        }
        learning.push((axis, pictures));
    }
    let mut summaries = Vec::new();
    if let Some((picture, table)) = archives::ccdf(scene)? {
        summaries.push(named(picture, names));
        *shares += &table;
    }
    summaries.extend(comparisons::picture(scene)?.map(|picture| named(picture, names)));
    let score = scene.score();
    let (tukey, untested) = comparisons::tukey(scene, &[score]);
    Ok(Chapter {
        title: scene.title(),
        slug,
        learning,
        maps: archives::maps(scene)?.into_iter().map(|picture| named(picture, names)).collect(),
        demonstrations: demonstrations::pictures(scene)?
            .into_iter()
            .map(|picture| named(picture, names))
            .collect(),
        summaries,
        tukey,
        untested,
        score,
        negative: scene.has_negative_returns(),
        left_out: published::left_out(scene),
    })
}

impl Report {
    /// What is missing, damaged or unfinished.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// How many runs it is about.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// The page, complete in itself.
    pub fn html(&self) -> String {
        page::html(self)
    }

    /// Writes the page, the pictures and the tables into a folder, which is made if it is not there. The pictures and
    /// tables of an earlier report there are removed: some may be of methods that are gone. The page comes last, so that a
    /// new page has everything beside it. Returns where it is.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, ReportError> {
        let page = folder.join("report.html");
        let earlier = std::fs::read_to_string(&page).is_ok_and(|text| page::is_ours(&text));
        for (name, endings) in BESIDE {
            let path = folder.join(name);
            std::fs::create_dir_all(&path)
                .and_then(|()| if earlier { clear(&path, &endings) } else { Ok(()) })
                .map_err(|reason| ReportError::Folder { path, reason })?;
        }
        for picture in self.pictures() {
            let path = folder.join("figures").join(&picture.name);
            // Names of methods may have dots, so an extension is appended and not replaced.
            let with = |extension: &str| PathBuf::from(format!("{}.{extension}", path.display()));
            write_whole(&with("svg"), picture.figure.svg().as_bytes())?;
            write_whole(&with("png"), &picture.figure.enlarged_png(PNG_SCALE)?)?;
        }
        for (name, text) in &self.files {
            write_whole(&folder.join(name), text.as_bytes())?;
        }
        write_whole(&page, self.html().as_bytes())?;
        Ok(page)
    }

    /// The files that [`Report::write`] writes into a folder.
    pub fn files(&self, folder: &Path) -> Vec<PathBuf> {
        let picture = |picture: &Picture| {
            ["svg", "png"]
                .map(|extension| folder.join("figures").join(format!("{}.{extension}", picture.name)))
        };
        let pictures = self.pictures().flat_map(picture);
        let tables = self.files.iter().map(|(name, _)| folder.join(name));
        pictures.chain(tables).chain([folder.join("report.html")]).collect()
    }

    fn pictures(&self) -> impl Iterator<Item = &Picture> {
        let in_chapters = self.chapters.iter().flat_map(|chapter| {
            let learning = chapter.learning.iter().flat_map(|(_, pictures)| pictures);
            learning.chain(&chapter.maps).chain(&chapter.demonstrations).chain(&chapter.summaries)
        });
        in_chapters.chain(&self.adaptations)
    }
}

/// Removes the files directly in a folder that have one of these endings. Folders and links are not ours.
fn clear(folder: &Path, endings: &[&str]) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let ours = path.extension().is_some_and(|found| endings.iter().any(|&ending| found == ending));
        if ours && entry.file_type()?.is_file() {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Names of files, which are also those of places on the page: each is given once, in letters that any file system takes,
/// and none is longer than file systems take with an extension.
struct Names {
    given: BTreeSet<String>,
}

/// In bytes, of the 255 that file systems take.
const LONGEST_NAME: usize = 120;

impl Names {
    fn new() -> Names {
        Names { given: page::PLACES.map(str::to_owned).into() }
    }

    /// A name like this one that no other has.
    fn give(&mut self, wanted: &str) -> String {
        let mut name = slug(wanted);
        if name.len() > LONGEST_NAME {
            // All bytes are letters of ASCII.
            name.truncate(LONGEST_NAME);
            name =
                format!("{}-{:08x}", name.trim_end_matches(['-', '.']), crc32fast::hash(wanted.as_bytes()));
        }
        // Two may differ only in what no file can be called by.
        let taken = |name: &String| self.given.contains(name);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(name);
        self.given.insert(free.clone());
        free
    }
}

/// In letters that any file system takes.
fn slug(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
    let letter = |c: char| if kept(c) { c.to_ascii_lowercase() } else { '-' };
    let mut text: String = name.chars().map(letter).collect();
    while text.contains("--") {
        text = text.replace("--", "-");
    }
    text.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_has_nothing_that_a_file_system_minds() {
        assert_eq!(slug("GAIL-EBC, q 0.5, demos a/b"), "gail-ebc-q-0.5-demos-a-b");
        assert_eq!(slug("../x_y"), "x_y");
    }

    #[test]
    fn names_are_bounded_and_each_is_given_once() {
        let mut names = Names::new();
        let long = |end: &str| format!("{}{end}", "search.train.something 0.001, ".repeat(30));
        let given: Vec<String> = ["a b", "a, b", "A/B", &long("1"), &long("2"), "", "results", "ünï"]
            .into_iter()
            .map(|wanted| names.give(wanted))
            .collect();
        assert_eq!(given[..3], ["a-b", "a-b-2", "a-b-3"]);
        assert_eq!(given[6], "results-2", "there is such a place on the page");
        assert!(given.iter().all(|name| name.len() <= LONGEST_NAME + 9 && name.is_ascii()), "{given:?}");
        let different: BTreeSet<&String> = given.iter().collect();
        assert_eq!(different.len(), given.len(), "{given:?}");
    }
}
