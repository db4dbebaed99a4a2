//! Safetensors files with checksums.
//!
//! The metadata of a file hold one entry, `magpie`, that says what the file is, and one, `crc32`, with the CRC-32 of the
//! head and of each tensor in the order of the file: eight digits each. The first is that of the file's bytes from its
//! beginning to the first tensor, with zeros for all these digits. So a reader of a single tensor can tell whether that,
//! and what describes it, is what was written.
//!
//! Files of earlier versions have the first entry alone and are read as they are. Anything else in the metadata is an error:
//! it might be `crc32` with a flipped bit.

use std::collections::HashMap;
use std::io::{self, Seek, SeekFrom, Write};

use safetensors::tensor::Dtype;
use serde_json::{Map, Value, json};

/// The entry of the metadata that says what a file is.
pub const ENTRY: &str = "magpie";
/// The entry with the checksums.
const SUMS: &str = "crc32";
/// How the head of a file with checksums begins.
const BEGINNING: &[u8] = b"{\"__metadata__\":{\"crc32\":\"";
/// Digits of a checksum.
const DIGITS: usize = 8;
/// Bytes of the head's length, with which a file begins.
const LENGTH: usize = 8;

/// A tensor to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor<'a> {
    /// Its name.
    pub name: &'a str,
    /// What its numbers are.
    pub dtype: Dtype,
    /// How many there are along each axis.
    pub shape: Vec<usize>,
}

impl Tensor<'_> {
    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.bitsize() / 8
    }
}

/// Writes a file: `contents` writes the bytes of the tensor of this number.
///
/// # Errors
/// If writing fails, or if `contents` writes more or less than the shape of a tensor says.
pub fn write<W: Write + Seek>(
    out: &mut W,
    entry: &str,
    tensors: &[Tensor<'_>],
    mut contents: impl FnMut(usize, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let head = head(entry, tensors)?;
    let length = (head.len() as u64).to_le_bytes();
    let mut sums = vec![crc32(&[&length, &head])];
    out.write_all(&length)?;
    out.write_all(&head)?;
    for (number, tensor) in tensors.iter().enumerate() {
        let mut summed = Summed { out: &mut *out, sum: crc32fast::Hasher::new(), bytes: 0 };
        contents(number, &mut summed)?;
        if summed.bytes != tensor.bytes() {
            let Tensor { name, shape, .. } = tensor;
            let problem = format!("{} bytes were written for {name}, whose shape is {shape:?}", summed.bytes);
            return Err(io::Error::other(problem));
        }
        sums.push(summed.sum.finalize());
    }
    let sums: Vec<String> = sums.iter().map(|sum| format!("{sum:08x}")).collect();
    out.seek(SeekFrom::Start((LENGTH + BEGINNING.len()) as u64))?;
    out.write_all(sums.join(" ").as_bytes())?;
    out.seek(SeekFrom::End(0))?;
    Ok(())
}

/// The head, with zeros for the checksums: a JSON object, padded with spaces to a multiple of eight.
fn head(entry: &str, tensors: &[Tensor<'_>]) -> io::Result<Vec<u8>> {
    let zeros = vec!["0".repeat(DIGITS); 1 + tensors.len()].join(" ");
    let mut object = Map::new();
    object.insert("__metadata__".to_owned(), json!({ SUMS: zeros, ENTRY: entry }));
    let mut start = 0;
    for tensor in tensors {
        let end = start + tensor.bytes();
        let about = json!({ "dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [start, end] });
        object.insert(tensor.name.to_owned(), about);
        start = end;
    }
    let mut bytes = serde_json::to_vec(&object)?;
    debug_assert!(bytes.starts_with(BEGINNING));
    bytes.resize(bytes.len().next_multiple_of(LENGTH), b' ');
    Ok(bytes)
}

/// Sums up what passes through to a writer.
struct Summed<'a, W> {
    out: &'a mut W,
    sum: crc32fast::Hasher,
    bytes: usize,
}

impl<W: Write> Write for Summed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.sum.update(&bytes[..written]);
        self.bytes += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn crc32(pieces: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    pieces.iter().for_each(|piece| hasher.update(piece));
    hasher.finalize()
}

/// The checksums of the tensors of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums(HashMap<String, u32>);

impl Sums {
    /// Those that a head (without the length before it) holds, after a check of the head itself; none if the file is of an
    /// earlier version or of another program.
    ///
    /// # Errors
    /// With what is wrong, if the head is not what was written.
    pub fn of_head(head: &[u8]) -> Result<Option<Sums>, String> {
        let changed = || "the checksum of its head does not fit".to_owned();
        let Some(rest) = head.strip_prefix(BEGINNING) else {
            return without_sums(head).map(|()| None);
        };
        let digits = rest.iter().position(|&byte| byte == b'"').ok_or_else(changed)?;
        let text = std::str::from_utf8(&rest[..digits]).map_err(|_| changed())?;
        let sums: Option<Vec<u32>> = text
            .split(' ')
            .map(|sum| {
                let lower = sum.len() == DIGITS
                    && sum.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
                u32::from_str_radix(sum, 16).ok().filter(|_| lower)
            })
            .collect();
        let sums = sums.ok_or_else(changed)?;
        let zeros: Vec<u8> = rest[..digits].iter().map(|&b| if b == b' ' { b' ' } else { b'0' }).collect();
        let length = (head.len() as u64).to_le_bytes();
        if crc32(&[&length, BEGINNING, &zeros, &rest[digits..]]) != sums[0] {
            return Err(changed());
        }
        let object: Map<String, Value> = serde_json::from_slice(head).map_err(|_| changed())?;
        let mut names: Vec<([u64; 2], String)> = object
            .into_iter()
            .filter(|(name, _)| name != "__metadata__")
            .map(|(name, about)| ([0, 1].map(|i| about["data_offsets"][i].as_u64().unwrap_or(0)), name))
            .collect();
        // In the order of the file; among those that hold nothing it makes no difference.
        names.sort();
        match names.len() + 1 == sums.len() {
            true => Ok(Some(Sums(
                names.into_iter().map(|(_, name)| name).zip(sums[1..].iter().copied()).collect(),
            ))),
            false => Err(changed()),
        }
    }

    /// Whether these are the bytes that were written for a tensor.
    ///
    /// # Errors
    /// With what is wrong.
    pub fn check(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        match self.0.get(name) == Some(&crc32fast::hash(bytes)) {
            true => Ok(()),
            false => Err(format!("the checksum of {name} does not fit")),
        }
    }
}

/// Refuses metadata that are neither those of an earlier version nor those of another program.
fn without_sums(head: &[u8]) -> Result<(), String> {
    // What is no JSON object at all, the reader of the file says.
    let Ok(object) = serde_json::from_slice::<Map<String, Value>>(head) else { return Ok(()) };
    let Some(Value::Object(metadata)) = object.get("__metadata__") else { return Ok(()) };
    match metadata.keys().find(|&key| key != ENTRY) {
        Some(other) if metadata.contains_key(ENTRY) => Err(format!(
            "its metadata have an entry {other:?} beside {ENTRY:?}, which no version of magpie writes"
        )),
        _ => Ok(()),
    }
}

/// Checks all of a file; whether it has checksums.
///
/// # Errors
/// With what is wrong.
pub fn check(file: &[u8]) -> Result<bool, String> {
    let broken = || "it ends before its head does".to_owned();
    let (length, rest) = file.split_first_chunk::<LENGTH>().ok_or_else(broken)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| broken())?;
    let (head, body) = rest.split_at_checked(length).ok_or_else(broken)?;
    let Some(sums) = Sums::of_head(head)? else { return Ok(false) };
    let object: Map<String, Value> = serde_json::from_slice(head).map_err(|e| e.to_string())?;
    let mut last = 0;
    for (name, about) in object.iter().filter(|(name, _)| *name != "__metadata__") {
        let [start, end] = [0, 1].map(|i| about["data_offsets"][i].as_u64().unwrap_or(u64::MAX) as usize);
        let bytes = body.get(start..end).ok_or_else(|| format!("it ends before {name} does"))?;
        sums.check(name, bytes)?;
        last = last.max(end);
    }
    match last == body.len() {
        true => Ok(true),
        false => Err("it does not end where its last tensor does".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use safetensors::SafeTensors;

    fn file() -> Vec<u8> {
        let tensors = [
            Tensor { name: "b", dtype: Dtype::F32, shape: vec![2, 3] },
            Tensor { name: "a", dtype: Dtype::I64, shape: vec![0] },
            Tensor { name: "c", dtype: Dtype::F64, shape: vec![2] },
        ];
        let mut out = io::Cursor::new(Vec::new());
        write(&mut out, "{\"a\": \"word\"}", &tensors, |number, out| match number {
            0 => (0..6).try_for_each(|i| out.write_all(&(i as f32).to_le_bytes())),
            2 => out.write_all(&[1.0_f64, -2.0].map(f64::to_le_bytes).concat()),
            _ => Ok(()),
        })
        .unwrap();
        out.into_inner()
    }

    #[test]
    fn others_read_what_is_written() {
        let bytes = file();
        let (_, head) = SafeTensors::read_metadata(&bytes).unwrap();
        assert_eq!(head.metadata().as_ref().unwrap()[ENTRY], "{\"a\": \"word\"}");
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(tensors.tensor("b").unwrap().shape(), [2, 3]);
        assert_eq!(tensors.tensor("c").unwrap().data(), [1.0_f64, -2.0].map(f64::to_le_bytes).concat());
        assert_eq!(check(&bytes), Ok(true));
        assert_eq!(bytes, file(), "the same bytes every time");
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let whole = file();
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // What is no longer an entry of ours is refused by whoever looks for one.
            let foreign = SafeTensors::read_metadata(&flipped).map_or(true, |(_, head)| {
                !head.metadata().as_ref().is_some_and(|all| all.contains_key(ENTRY))
            });
            assert!(foreign || check(&flipped).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
        }
        for length in 0..whole.len() {
            assert!(check(&whole[..length]).is_err(), "cut to {length}");
        }
        assert!(check(&[&whole[..], b"x"].concat()).is_err());
    }

    #[test]
    fn files_without_checksums_are_read() {
        let earlier = |metadata: &str| {
            let mut head = format!(
                "{{\"__metadata__\":{metadata},\"a\":{{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}}}"
            );
            head += &" ".repeat(head.len().next_multiple_of(8) - head.len());
            [&(head.len() as u64).to_le_bytes()[..], head.as_bytes()].concat()
        };
        assert_eq!(check(&earlier("{\"magpie\":\"x\"}")), Ok(false));
        assert_eq!(check(&earlier("{\"format\":\"pt\"}")), Ok(false), "of another program");
        for entry in ["crc33", "crc32"] {
            let problem =
                check(&earlier(&format!("{{\"magpie\":\"x\",\"{entry}\":\"00000000\"}}"))).unwrap_err();
            assert!(problem.contains(entry), "{problem}");
        }
    }

    #[test]
    fn a_tensor_of_another_size_is_not_written() {
        let tensors = [Tensor { name: "a", dtype: Dtype::F32, shape: vec![2] }];
        let written = write(&mut io::Cursor::new(Vec::new()), "", &tensors, |_, out| out.write_all(&[0; 4]));
        assert!(written.unwrap_err().to_string().contains("4 bytes were written for a"));
    }
}
