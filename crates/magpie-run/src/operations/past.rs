//! Earlier pictures of an archive, which a run keeps in its event file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::RunError;
use crate::tensorboard::{FILE, step_of};

/// A picture that a run drew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastPicture {
    /// The iteration that it shows.
    pub iteration: u64,
    at: u64,
    bytes: u64,
}

/// No more are looked for: this many minutes are a week.
const MOST: usize = 10_000;
/// What comes before a picture in its event is shorter than this.
const FRONT: u64 = 256;
/// A picture is never as large.
const LARGEST: u64 = 16 << 20;
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The pictures of the run in `folder`, the earliest first; none if it has no event file.
pub fn past_pictures(folder: &Path) -> Result<Vec<PastPicture>, RunError> {
    let path = folder.join(FILE);
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let io = || RunError::io(&path, "reading");
    let mut file = magpie_files::open(&path).map_err(io())?;
    let end = file.metadata().map_err(io())?.len();
    let mut found: Vec<PastPicture> = Vec::new();
    let mut at = 0;
    // A record is its length and a checksum, the event, and another checksum.
    while at + 16 <= end && found.len() < MOST {
        let mut length = [0; 8];
        file.seek(SeekFrom::Start(at)).map_err(io())?;
        file.read_exact(&mut length).map_err(io())?;
        let length = u64::from_le_bytes(length);
        if length > end - at - 16 {
            break;
        }
        if let Some(picture) = picture_in(&mut file, at + 12, length).map_err(io())? {
            found.retain(|before| before.iteration != picture.iteration);
            found.push(picture);
        }
        at += 16 + length;
    }
    Ok(found)
}

fn picture_in(file: &mut File, event: u64, length: u64) -> std::io::Result<Option<PastPicture>> {
    let mut front = vec![0; length.min(FRONT) as usize];
    file.seek(SeekFrom::Start(event))?;
    file.read_exact(&mut front)?;
    let start = front.windows(SIGNATURE.len()).position(|bytes| bytes == SIGNATURE);
    Ok(start.zip(step_of(&front)).map(|(start, iteration)| PastPicture {
        iteration,
        at: event + start as u64,
        bytes: length - start as u64,
    }))
}

/// The PNG of a picture.
pub fn past_picture(folder: &Path, picture: &PastPicture) -> Result<Vec<u8>, RunError> {
    let path = folder.join(FILE);
    let mut bytes = vec![0; picture.bytes.min(LARGEST) as usize];
    magpie_files::open(&path)
        .and_then(|mut file| {
            file.seek(SeekFrom::Start(picture.at))?;
            file.read_exact(&mut bytes)
        })
        .map_err(RunError::io(&path, "reading"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensorboard::Events;

    #[test]
    fn pictures_are_found_among_other_events_and_a_cut_file_keeps_the_first() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(past_pictures(folder.path()).unwrap(), []);
        let png = |byte: u8| [SIGNATURE, &[byte; 600]].concat();
        let mut events = Events::create(folder.path()).unwrap();
        for step in [1, 7, 200] {
            events.row(step, [("loss".to_owned(), 1.0)]).unwrap();
            events.picture(step, "archive", &png(step as u8)).unwrap();
        }
        let found = past_pictures(folder.path()).unwrap();
        assert_eq!(found.iter().map(|p| p.iteration).collect::<Vec<_>>(), [1, 7, 200]);
        assert_eq!(past_picture(folder.path(), &found[1]).unwrap(), png(7));
        let path = folder.path().join(FILE);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        assert_eq!(past_pictures(folder.path()).unwrap().len(), 2);
    }
}
