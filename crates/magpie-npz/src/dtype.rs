//! What the entries of an array are.

/// A type of numbers, little endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// `<f4`
    F32,
    /// `<f8`
    F64,
    /// `<i4`
    I32,
    /// `<i8`
    I64,
    /// `|u1`
    U8,
    /// `|b1`
    Bool,
}

impl Dtype {
    /// All that can be read.
    pub const ALL: &[Dtype] = &[Dtype::F32, Dtype::F64, Dtype::I32, Dtype::I64, Dtype::U8, Dtype::Bool];

    /// Floating-point numbers.
    pub const FLOATS: &[Dtype] = &[Dtype::F32, Dtype::F64];

    /// From numpy's name without the byte order, such as `f4`.
    pub fn named(code: &str) -> Option<Dtype> {
        Dtype::ALL.iter().copied().find(|dtype| dtype.code() == code)
    }

    /// As in npy headers, without the byte order.
    fn code(self) -> &'static str {
        match self {
            Dtype::F32 => "f4",
            Dtype::F64 => "f8",
            Dtype::I32 => "i4",
            Dtype::I64 => "i8",
            Dtype::U8 => "u1",
            Dtype::Bool => "b1",
        }
    }

    /// As in Python code.
    fn name(self) -> &'static str {
        match self {
            Dtype::F32 => "float32",
            Dtype::F64 => "float64",
            Dtype::I32 => "int32",
            Dtype::I64 => "int64",
            Dtype::U8 => "uint8",
            Dtype::Bool => "bool",
        }
    }

    /// Bytes of an entry.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Dtype::F32 | Dtype::I32 => 4,
            Dtype::F64 | Dtype::I64 => 8,
            Dtype::U8 | Dtype::Bool => 1,
        }
    }

    /// From the value of `descr` in a header, such as `<f4`, if it is one of those allowed.
    pub(crate) fn parse(descr: &str, allowed: &[Dtype]) -> Result<Dtype, String> {
        let known = descr.strip_prefix(['<', '|']).and_then(Dtype::named);
        known.filter(|dtype| allowed.contains(dtype)).ok_or_else(|| {
            format!(
                "the type is {}; expected {}, little endian: convert it with .astype(\"<f4\")",
                spelled_out(descr),
                listed(allowed)
            )
        })
    }

    /// Appends the numbers of a whole number of entries.
    pub(crate) fn widen(self, bytes: &[u8], out: &mut Vec<f64>) {
        fn each<const N: usize>(bytes: &[u8], out: &mut Vec<f64>, number: impl Fn([u8; N]) -> f64) {
            out.extend(bytes.as_chunks::<N>().0.iter().map(|b| number(*b)));
        }
        match self {
            Dtype::F32 => each(bytes, out, |b| f32::from_le_bytes(b).into()),
            Dtype::F64 => each(bytes, out, f64::from_le_bytes),
            Dtype::I32 => each(bytes, out, |b| i32::from_le_bytes(b).into()),
            Dtype::I64 => each(bytes, out, |b| i64::from_le_bytes(b) as f64),
            Dtype::U8 => each(bytes, out, |[b]: [u8; 1]| b.into()),
            Dtype::Bool => each(bytes, out, |[b]: [u8; 1]| f64::from(u8::from(b != 0))),
        }
    }
}

/// `float32, float64 or bool`.
fn listed(dtypes: &[Dtype]) -> String {
    let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// `>f4` as "big-endian float32 (>f4)".
fn spelled_out(descr: &str) -> String {
    let order = if descr.starts_with('>') { "big-endian " } else { "" };
    let mut rest = descr.trim_start_matches(['<', '>', '|', '=']).chars();
    let kind = match rest.next() {
        Some('f') => "float",
        Some('i') => "int",
        Some('u') => "uint",
        Some('c') => "complex",
        Some('b') => return format!("bool ({descr})"),
        Some('U' | 'S') => return format!("text ({descr})"),
        Some('O') => return "Python objects".to_owned(),
        _ => return format!("{descr:?}"),
    };
    match rest.as_str().parse::<u32>() {
        Ok(bytes @ 1..=32) => format!("{order}{kind}{} ({descr})", 8 * bytes),
        _ => format!("{descr:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_widens_and_is_known_by_its_code() {
        for (dtype, bytes, want) in [
            (Dtype::F32, 0.5_f32.to_le_bytes().to_vec(), 0.5),
            (Dtype::F64, 0.1_f64.to_le_bytes().to_vec(), 0.1),
            (Dtype::I32, (-7_i32).to_le_bytes().to_vec(), -7.0),
            (Dtype::I64, (1_i64 << 40).to_le_bytes().to_vec(), (1_u64 << 40) as f64),
            (Dtype::U8, vec![200], 200.0),
            (Dtype::Bool, vec![3], 1.0),
        ] {
            let mut out = vec![9.0];
            dtype.widen(&bytes, &mut out);
            assert_eq!(out, [9.0, want]);
            assert_eq!(dtype.bytes(), bytes.len());
            assert_eq!(Dtype::parse(&format!("<{}", dtype.code()), Dtype::ALL), Ok(dtype));
        }
        let error = Dtype::parse("<i4", Dtype::FLOATS).unwrap_err();
        assert!(error.contains("int32 (<i4); expected float32 or float64, little endian"), "{error}");
        let error = Dtype::parse("<i2", Dtype::ALL).unwrap_err();
        assert!(error.contains("float32, float64, int32, int64, uint8 or bool"), "{error}");
    }
}
