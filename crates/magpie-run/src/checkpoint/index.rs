//! Where rows lie, and which ones a save has to write.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use magpie_qd::{Row, Solutions};
use serde::{Deserialize, Serialize};

/// Where the row of each slot lies.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Index {
    pub solution_len: usize,
    pub extra_len: usize,
    /// By their numbers.
    pub segments: BTreeMap<u32, Segment>,
    /// One a slot.
    pub places: Vec<Option<Place>>,
}

/// A file of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Segment {
    /// How many it holds, those that have been replaced included.
    pub rows: u32,
    /// Its checksum.
    pub sum: u32,
}

/// A row in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Place {
    pub segment: u32,
    pub row: u32,
}

/// An index, and which versions of the rows it speaks of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stored {
    pub(super) index: Index,
    /// Of the row in each slot; meaningless where there is none.
    versions: Vec<u64>,
}

/// What a save has to write.
pub(super) struct Plan {
    /// Number of the segment that it makes, if there are rows to write.
    pub number: u32,
    pub rows: Vec<Arc<Row>>,
    /// What will be stored then; the new segment has no checksum yet.
    pub after: Stored,
}

/// Segments are small files once most of their rows have been replaced; with more than this, half of them become one.
const MOST_SEGMENTS: usize = 64;

impl Stored {
    /// An index, and the rows that were read by it.
    pub(super) fn new(index: Index, rows: &Solutions) -> Stored {
        Stored { versions: versions(rows), index }
    }

    /// The lowest number that no segment has had.
    pub(super) fn next(&self) -> u32 {
        self.index.segments.last_key_value().map_or(0, |(last, _)| last + 1)
    }

    /// What has to be written so that all of `rows` is stored.
    pub(super) fn plan(&self, rows: &Solutions, number: u32) -> Plan {
        let mut places: Vec<Option<Place>> = (0..rows.slots())
            .map(|slot| {
                let place = *self.index.places.get(slot)?;
                place.filter(|_| rows.row(slot).is_some_and(|row| row.version() == self.versions[slot]))
            })
            .collect();
        let kept = self.kept(&places);
        places.iter_mut().for_each(|place| {
            place.take_if(|place| !kept.contains_key(&place.segment));
        });
        let (mut segments, mut written) = (kept, Vec::new());
        for (slot, place) in places.iter_mut().enumerate() {
            if let (None, Some(row)) = (&place, rows.row(slot)) {
                *place = Some(Place { segment: number, row: written.len() as u32 });
                written.push(Arc::clone(row));
            }
        }
        if !written.is_empty() {
            segments.insert(number, Segment { rows: written.len() as u32, sum: 0 });
        }
        let (solution_len, extra_len) = (rows.solution_len(), rows.extra_len());
        let index = Index { solution_len, extra_len, segments, places };
        Plan { number, rows: written, after: Stored { index, versions: versions(rows) } }
    }

    /// The segments that stay, if `places` are the rows that have not changed.
    fn kept(&self, places: &[Option<Place>]) -> BTreeMap<u32, Segment> {
        let mut live: BTreeMap<u32, u32> = BTreeMap::new();
        places.iter().flatten().for_each(|place| *live.entry(place.segment).or_default() += 1);
        let mut kept: Vec<(u32, Segment, u32)> = live
            .into_iter()
            .filter_map(|(number, live)| Some((number, *self.index.segments.get(&number)?, live)))
            .collect();
        // Those with the smallest share of rows in use come last, and go first.
        let share = |live: u32, rows: u32| u64::from(live) * u64::from(u32::MAX) / u64::from(rows.max(1));
        kept.sort_by_key(|&(number, segment, live)| (Reverse(share(live, segment.rows)), number));
        let total: u64 = kept.iter().map(|(_, segment, _)| u64::from(segment.rows)).sum();
        let in_use: u64 = kept.iter().map(|(_, _, live)| u64::from(*live)).sum();
        let mut dead = total - in_use.min(total);
        while dead > in_use
            && let Some((_, segment, live)) = kept.pop()
        {
            dead -= u64::from(segment.rows - live.min(segment.rows));
        }
        if kept.len() > MOST_SEGMENTS {
            kept.sort_by_key(|&(number, _, live)| (Reverse(live), number));
            kept.truncate(MOST_SEGMENTS / 2);
        }
        kept.into_iter().map(|(number, segment, _)| (number, segment)).collect()
    }
}

fn versions(rows: &Solutions) -> Vec<u64> {
    (0..rows.slots()).map(|slot| rows.row(slot).map_or(0, |row| row.version())).collect()
}
