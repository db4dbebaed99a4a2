//! A page that needs no server: the archive, and the gaits of chosen cells.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::error::ViewError;
use crate::gait::{Precision, Query};
use crate::page;
use crate::run::Run;
use crate::spread::spread;

/// Which gaits a page holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gaits {
    /// Every elite's.
    All,
    /// So many that differ.
    Spread(usize),
    /// Those of these cells.
    Cells(Vec<usize>),
}

/// What an exported page holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// Which gaits.
    pub gaits: Gaits,
    /// Frames a second.
    pub rate: u32,
    /// The largest page, in bytes.
    pub most: usize,
}

impl Default for ExportOptions {
    fn default() -> ExportOptions {
        ExportOptions { gaits: Gaits::Spread(24), rate: 30, most: 20 << 20 }
    }
}

#[derive(Serialize)]
struct Data {
    runs: Vec<Exported>,
}

#[derive(Serialize)]
struct Exported {
    outline: Box<RawValue>,
    metrics: Box<RawValue>,
    /// By cell; the policy of a run without an archive has the number 0.
    gaits: BTreeMap<usize, String>,
}

/// A page with these runs. `progress` is told how many gaits of how many are done.
pub fn export(
    runs: &[Run],
    options: &ExportOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<String, ViewError> {
    let mut exported = Vec::new();
    let mut size = page::SCRIPT.len() + page::STYLE.len();
    for run in runs {
        let mut gaits = BTreeMap::new();
        let cells = cells(run, &options.gaits)?;
        for (done, cell) in cells.iter().enumerate() {
            let query = Query { cell: *cell, ..Query::default() };
            let bytes = run.gait(&query, Precision::Half { rate: options.rate })?;
            let text = STANDARD.encode(bytes);
            size += text.len();
            if size > options.most {
                let all = (size as f64 / (done + 1) as f64 * cells.len() as f64) / 1e6;
                let remedy = "choose fewer cells with --spread, or fewer frames with --fps";
                return Err(ViewError::Size { size: all, most: options.most as f64 / 1e6, remedy });
            }
            gaits.insert(cell.unwrap_or_default(), text);
            progress(done + 1, cells.len());
        }
        exported.push(Exported { outline: raw(&run.outline()?)?, metrics: raw(&run.metrics()?)?, gaits });
    }
    assemble(exported)
}

/// A page with one run and these gaits of it, packed and by cell.
pub fn export_gaits(run: &Run, gaits: Vec<(usize, Vec<u8>)>) -> Result<String, ViewError> {
    let gaits = gaits.into_iter().map(|(cell, bytes)| (cell, STANDARD.encode(bytes))).collect();
    let (outline, metrics) = (raw(&run.outline()?)?, raw(&run.metrics()?)?);
    assemble(vec![Exported { outline, metrics, gaits }])
}

fn assemble(runs: Vec<Exported>) -> Result<String, ViewError> {
    // `<` could end the element that holds the data.
    let data = serde_json::to_string(&Data { runs }).map_err(encode)?.replace('<', "\\u003c");
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let (script, style) = (&*page::SCRIPT, page::STYLE);
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    );
    let head =
        format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{style}</style>");
    let tail =
        format!("<script type=\"application/json\" id=\"data\">{data}</script>\n<script>{script}</script>");
    Ok(page::html(&head, &tail))
}

fn encode(e: impl std::fmt::Display) -> ViewError {
    ViewError::Encode(e.to_string())
}

fn raw(bytes: &[u8]) -> Result<Box<RawValue>, ViewError> {
    RawValue::from_string(String::from_utf8_lossy(bytes).into_owned()).map_err(encode)
}

/// The cells whose gaits are exported; `None` stands for the only policy of a run.
fn cells(run: &Run, gaits: &Gaits) -> Result<Vec<Option<usize>>, ViewError> {
    if run.is_policy()? {
        return Ok(vec![None]);
    }
    run.with_elites(|elites| {
        let outline = &elites.outline;
        let of = |positions: Vec<usize>| positions.into_iter().map(|i| outline.elites[i].cell).collect();
        let cells: Vec<usize> = match gaits {
            Gaits::All => of((0..outline.elites.len()).collect()),
            Gaits::Spread(count) => of(spread(outline, *count)),
            Gaits::Cells(cells) => cells.clone(),
        };
        Ok(cells.into_iter().map(Some).collect())
    })
}
