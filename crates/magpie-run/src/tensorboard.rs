//! Event files that TensorBoard shows: the rows of `metrics.csv`, and pictures.
//!
//! A file is a sequence of records, each an `Event` of TensorFlow's `event.proto`:
//!
//! ```text
//! length (8 bytes, little endian)   masked CRC-32C of the length (4)   event   masked CRC-32C of the event (4)
//! ```
//!
//! Events hold the time of day, so that these files, unlike the rest of a run, are not the same bytes every time; tags,
//! steps and numbers are. A run that is resumed cuts its file back to the checkpoint and goes on in it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use magpie_files::open_own;

use crate::directory::{read, write_whole};
use crate::error::RunError;

/// TensorBoard looks for files whose names have this in them.
pub(crate) const FILE: &str = "events.out.tfevents.magpie";

/// An event file, appended to as a run goes.
#[derive(Debug)]
pub(crate) struct Events {
    path: PathBuf,
}

impl Events {
    /// A new file in `folder`.
    pub fn create(folder: &Path) -> Result<Events, RunError> {
        let path = folder.join(FILE);
        let mut event = event_head(None);
        put_bytes(&mut event, 3, b"brain.Event:2");
        write_whole(&path, &record(&event))?;
        Ok(Events { path })
    }

    /// The file of a run that goes on after `step`: what comes later, or cannot be read, is cut off. A file that is
    /// missing is begun anew, because its numbers are in `metrics.csv` as well.
    pub fn resume(folder: &Path, step: u64) -> Result<Events, RunError> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Events::create(folder);
        }
        let bytes = read(&path)?;
        let mut kept = 0;
        while let Some((event, length)) = first_record(&bytes[kept..]) {
            if step_of(event).is_none_or(|found| found > step) {
                break;
            }
            kept += length;
        }
        if kept == 0 {
            return Events::create(folder);
        }
        open_own(&path, OpenOptions::new().write(true))
            .and_then(|file| file.set_len(kept as u64))
            .map_err(RunError::io(&path, "cutting back"))?;
        Ok(Events { path })
    }

    /// Appends numbers with their tags at `step`. Those that are not finite are left out.
    pub fn row(
        &mut self,
        step: u64,
        numbers: impl IntoIterator<Item = (String, f64)>,
    ) -> Result<(), RunError> {
        let mut summary = Vec::new();
        for (tag, number) in numbers.into_iter().filter(|(_, number)| number.is_finite()) {
            let mut value = Vec::new();
            put_bytes(&mut value, 1, tag.as_bytes());
            put_key(&mut value, 2, FIXED32);
            value.extend_from_slice(&(number as f32).to_le_bytes());
            put_bytes(&mut summary, 1, &value);
        }
        self.append(step, &summary)
    }

    /// Appends a picture in PNG at `step`.
    pub fn picture(&mut self, step: u64, tag: &str, png: &[u8]) -> Result<(), RunError> {
        /// Red, green, blue and opacity.
        const COLOUR_SPACE: u64 = 4;
        let mut image = Vec::new();
        let [width, height] = png_size(png);
        for (field, number) in [(1, height), (2, width), (3, COLOUR_SPACE)] {
            put_key(&mut image, field, VARINT);
            put_varint(&mut image, number);
        }
        put_bytes(&mut image, 4, png);
        let mut value = Vec::new();
        put_bytes(&mut value, 1, tag.as_bytes());
        put_bytes(&mut value, 4, &image);
        let mut summary = Vec::new();
        put_bytes(&mut summary, 1, &value);
        self.append(step, &summary)
    }

    fn append(&mut self, step: u64, summary: &[u8]) -> Result<(), RunError> {
        let mut event = event_head(Some(step));
        put_bytes(&mut event, 5, summary);
        open_own(&self.path, OpenOptions::new().append(true))
            .and_then(|mut file| file.write_all(&record(&event)))
            .map_err(RunError::io(&self.path, "appending an event"))
    }
}

/// Width and height: the first numbers of a PNG after its signature and the name of its head. A file that is too short
/// for that has none.
fn png_size(png: &[u8]) -> [u64; 2] {
    [16, 20].map(|at| {
        let bytes = png.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok());
        bytes.map_or(0, |b| u32::from_be_bytes(b).into())
    })
}

/// How the value of a field is written: see the encoding of protocol buffers.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;
const FIXED32: u64 = 5;

/// Bytes at the end of a file that are not whole records.
pub(crate) fn unreadable(path: &Path) -> Result<usize, RunError> {
    let bytes = read(path)?;
    let mut rest = &bytes[..];
    while let Some((_, length)) = first_record(rest) {
        rest = &rest[length..];
    }
    Ok(rest.len())
}

/// The time of day and the step, with which every event begins.
fn event_head(step: Option<u64>) -> Vec<u8> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
    let mut event = Vec::new();
    put_key(&mut event, 1, FIXED64);
    event.extend_from_slice(&now.to_le_bytes());
    if let Some(step) = step {
        put_key(&mut event, 2, VARINT);
        put_varint(&mut event, step);
    }
    event
}

/// The step of an event as written here; the head of a file is at step 0.
pub(crate) fn step_of(event: &[u8]) -> Option<u64> {
    let rest = event.get(9..)?;
    match rest.split_first()? {
        (&0x10, digits) => {
            let mut step = 0;
            for (i, &digit) in digits.iter().take(10).enumerate() {
                step |= u64::from(digit & 0x7f).checked_shl(7 * i as u32)?;
                if digit < 0x80 {
                    return Some(step);
                }
            }
            None
        }
        _ => Some(0),
    }
}

fn put_key(out: &mut Vec<u8>, field: u64, kind: u64) {
    put_varint(out, (field << 3) | kind);
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_key(out, field, LENGTH);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// An event with its length and checksums.
fn record(event: &[u8]) -> Vec<u8> {
    let length = (event.len() as u64).to_le_bytes();
    let [length_sum, event_sum] = [&length[..], event].map(|bytes| masked(crc32c(bytes)).to_le_bytes());
    [&length, &length_sum[..], event, &event_sum].concat()
}

/// The first event and the length of its record, if both checksums fit.
fn first_record(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let (length_sum, rest) = rest.split_first_chunk::<4>()?;
    let (event, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let (event_sum, _) = rest.split_first_chunk::<4>()?;
    let fits = |sum: &[u8; 4], bytes: &[u8]| u32::from_le_bytes(*sum) == masked(crc32c(bytes));
    (fits(length_sum, length) && fits(event_sum, event)).then_some((event, 16 + event.len()))
}

/// CRC-32 with Castagnoli's polynomial, reflected.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let (mut crc, mut bit) = (i as u32, 0);
            while bit < 8 {
                crc = (crc >> 1) ^ ((crc & 1) * 0x82f6_3b78);
                bit += 1;
            }
            table[i] = crc;
            i += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc: u32, &byte| (crc >> 8) ^ TABLE[(crc as u8 ^ byte) as usize])
}

/// A checksum that can itself be part of checked bytes.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Check values of RFC 3720, B.4, and of the catalogue of CRCs.
    #[test]
    fn checksums_are_those_of_castagnoli() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    /// All events of a file without their times.
    fn events(folder: &Path) -> Vec<Vec<u8>> {
        let bytes = std::fs::read(folder.join(FILE)).unwrap();
        let (mut at, mut events) = (0, Vec::new());
        while let Some((event, length)) = first_record(&bytes[at..]) {
            assert_eq!(event[0], 0x09, "the time comes first");
            events.push(event[9..].to_vec());
            at += length;
        }
        assert_eq!(at, bytes.len(), "nothing but records");
        events
    }

    /// Bytes written down by hand from event.proto, summary.proto and the framing of records.
    #[test]
    fn a_row_is_the_bytes_that_tensorboard_expects() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = Events::create(folder.path()).unwrap();
        let numbers = [("QD/coverage (%)", 50.0), ("QD/best score", f64::NAN), ("magpie/own", -2.0)];
        file.row(300, numbers.map(|(tag, number)| (tag.to_owned(), number))).unwrap();
        let expected = [
            &[0x10, 0xac, 0x02, 0x2a, 0x2b][..], // step 300; a summary of 43 bytes
            &[0x0a, 0x16, 0x0a, 0x0f],           // a value of 22 bytes, whose tag has 15
            b"QD/coverage (%)",
            &[0x15, 0x00, 0x00, 0x48, 0x42], // 50 in single precision
            &[0x0a, 0x11, 0x0a, 0x0a],       // a value of 17 bytes, whose tag has 10
            b"magpie/own",
            &[0x15, 0x00, 0x00, 0x00, 0xc0], // -2
        ]
        .concat();
        assert_eq!(events(folder.path()), [b"\x1a\x0dbrain.Event:2".to_vec(), expected]);
        // A whole record: what TensorFlow writes for these nine bytes.
        let known = [
            &[9, 0, 0, 0, 0, 0, 0, 0][..],
            &0x3971_f937_u32.to_le_bytes(),
            b"123456789",
            // Of the catalogue: ((0xe3069283 >> 15 | 0xe3069283 << 17) + 0xa282ead8) mod 2³²
            &0xc78a_b0e5_u32.to_le_bytes(),
        ]
        .concat();
        assert_eq!(record(b"123456789"), known);
    }

    #[test]
    fn resuming_gives_the_events_of_a_run_that_was_not_stopped() {
        let [whole, stopped] = [0; 2].map(|_| tempfile::tempdir().unwrap());
        let row = |file: &mut Events, step: u64| file.row(step, [("best".to_owned(), step as f64)]).unwrap();
        let steps = [1, 127, 128, 20_000, u64::from(u32::MAX), 1 << 40];
        let mut file = Events::create(whole.path()).unwrap();
        steps.iter().for_each(|&step| row(&mut file, step));
        file.picture(1 << 40, "archive", b"\x89PNG").unwrap();
        let path = stopped.path().join(FILE);
        for kept in 0..=steps.len() {
            let mut file = Events::create(stopped.path()).unwrap();
            steps.iter().for_each(|&step| row(&mut file, step));
            // A record that was being written when the process died.
            let torn = [std::fs::read(&path).unwrap(), vec![7; 11]].concat();
            std::fs::write(&path, torn).unwrap();
            let last = if kept == 0 { 0 } else { steps[kept - 1] };
            let mut file = Events::resume(stopped.path(), last).unwrap();
            assert_eq!(events(stopped.path()).len(), 1 + kept);
            steps[kept..].iter().for_each(|&step| row(&mut file, step));
            file.picture(1 << 40, "archive", b"\x89PNG").unwrap();
            assert_eq!(events(stopped.path()), events(whole.path()));
        }
    }

    #[test]
    fn a_file_that_is_gone_or_junk_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        for junk in [&b""[..], b"junk", &[0xff; 100], &[0; 100]] {
            std::fs::write(folder.path().join(FILE), junk).unwrap();
            Events::resume(folder.path(), 5).unwrap();
            assert_eq!(events(folder.path()).len(), 1, "{junk:?}");
        }
        std::fs::remove_file(folder.path().join(FILE)).unwrap();
        Events::resume(folder.path(), 5).unwrap();
        assert_eq!(events(folder.path()).len(), 1);
    }
}
