//! What an npy file says of its numbers before they begin.

use std::io::Read;

use crate::array::{Array, in_c_order, tuple};
use crate::dtype::Dtype;

const MAGIC: &[u8] = b"\x93NUMPY";

/// numpy refuses longer headers too, because parsing them could take forever.
const MOST_HEADER_BYTES: usize = 10_000;

/// Type, order and shape of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// What the entries are.
    pub dtype: Dtype,
    /// Whether the first axis runs fastest.
    pub fortran_order: bool,
    /// Length of each axis.
    pub shape: Vec<usize>,
}

impl Header {
    /// The array of which these are the bytes, all of them.
    pub fn array(&self, bytes: &[u8]) -> Result<Array<f64>, String> {
        let count = self.fits(bytes.len() as u64)?;
        let mut values = Vec::with_capacity(count);
        self.dtype.widen(bytes, &mut values);
        Ok(self.ordered(values))
    }

    /// How many entries there are, if the array has this many bytes.
    pub fn fits(&self, bytes: u64) -> Result<usize, String> {
        let count = self.shape.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
        let announced = count.and_then(|count| count.checked_mul(self.dtype.bytes()));
        match (count, announced) {
            (Some(count), Some(announced)) if announced as u64 == bytes => Ok(count),
            _ => {
                let announced = announced.map_or("more than there can be".to_owned(), |n| n.to_string());
                let shape = tuple(&self.shape);
                Err(format!(
                    "the shape {shape} takes {announced} bytes, but there are {bytes}; the file is damaged, write it again"
                ))
            }
        }
    }

    /// Numbers as they lay in the file, in C order.
    pub(crate) fn ordered<T: Copy>(&self, values: Vec<T>) -> Array<T> {
        let values = if self.fortran_order { in_c_order(&values, &self.shape) } else { values };
        Array { shape: self.shape.clone(), values }
    }

    /// Reads the header of an npy file and leaves the reader at the first number. Also gives its length in bytes.
    pub(crate) fn read(npy: &mut impl Read, allowed: &[Dtype]) -> Result<(Header, u64), String> {
        let cut_off = |_| "the npy header is cut off".to_owned();
        let mut start = [0; 8];
        let complete = npy.read_exact(&mut start).is_ok() && start.starts_with(MAGIC);
        if !complete {
            return Err("no npy header; write it with numpy.savez".to_owned());
        }
        // Version 1 has a length of two bytes, versions 2 and 3 of four.
        let length_bytes = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(format!("npy version {version} is not known; write it with numpy.savez")),
        };
        let mut length = [0; 4];
        npy.read_exact(&mut length[..length_bytes]).map_err(cut_off)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MOST_HEADER_BYTES {
            return Err(format!(
                "the npy header has {length} bytes, but at most {MOST_HEADER_BYTES} make sense"
            ));
        }
        let mut text = vec![0; length];
        npy.read_exact(&mut text).map_err(cut_off)?;
        let text = str::from_utf8(&text).map_err(|_| "the npy header is no text".to_owned())?;
        Ok((Header::parse(text, allowed)?, (start.len() + length_bytes + length) as u64))
    }

    /// Parses a header such as `{'descr': '<f4', 'fortran_order': False, 'shape': (8, 200, 3), }`.
    fn parse(text: &str, allowed: &[Dtype]) -> Result<Header, String> {
        let value = |key: &str| text.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
        let malformed = || format!("malformed npy header: {}", text.trim_end());

        let descr = value("descr").ok_or_else(malformed)?;
        let Some(descr) = descr.strip_prefix('\'').and_then(|rest| rest.split('\'').next()) else {
            return Err("a structured array; expected plain numbers".to_owned());
        };
        let dtype = Dtype::parse(descr, allowed)?;
        let fortran_order = match value("fortran_order") {
            Some(rest) if rest.starts_with("True") => true,
            Some(rest) if rest.starts_with("False") => false,
            _ => return Err(malformed()),
        };
        let axes = value("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')'));
        let (axes, _) = axes.ok_or_else(malformed)?;
        let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
        let shape = axes.map(str::parse).collect::<Result<_, _>>().map_err(|_| malformed())?;
        Ok(Header { dtype, fortran_order, shape })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_all_numpy_versions_are_understood() {
        let text = "{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }\n";
        for (version, length) in
            [(1, (text.len() as u16).to_le_bytes().to_vec()), (2, (text.len() as u32).to_le_bytes().to_vec())]
        {
            let npy = [MAGIC, &[version, 0], &length, text.as_bytes()].concat();
            let (header, bytes) = Header::read(&mut &npy[..], Dtype::ALL).unwrap();
            assert_eq!(header, Header { dtype: Dtype::F64, fortran_order: true, shape: vec![2] });
            assert_eq!(bytes, npy.len() as u64);
        }
    }

    #[test]
    fn bytes_must_be_as_many_as_the_shape_takes() {
        let header =
            |shape: &[usize]| Header { dtype: Dtype::F32, fortran_order: false, shape: shape.to_vec() };
        assert_eq!(header(&[2, 3]).fits(24), Ok(6));
        assert_eq!(header(&[]).fits(4), Ok(1));
        for (shape, bytes) in [(&[2, 3][..], 23), (&[2], 0), (&[usize::MAX, 2], 8), (&[], 0)] {
            assert!(header(shape).fits(bytes).is_err());
        }
        let turned = Header { dtype: Dtype::U8, fortran_order: true, shape: vec![2, 3] };
        assert_eq!(turned.array(&[0, 3, 1, 4, 2, 5]).unwrap().values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }
}
