//! Arrays as numpy lays them out, whatever container they came in.

use std::borrow::Cow;

use super::Problem;
use super::error::problem;

/// What the entries of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    F32,
    F64,
    I32,
    I64,
    U8,
    Bool,
}

impl Item {
    /// From numpy's name without byte order, such as `f4`.
    pub fn named(name: &str) -> Option<Item> {
        Some(match name {
            "f4" => Item::F32,
            "f8" => Item::F64,
            "i4" => Item::I32,
            "i8" => Item::I64,
            "u1" => Item::U8,
            "b1" => Item::Bool,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Item::F32 | Item::I32 => 4,
            Item::F64 | Item::I64 => 8,
            Item::U8 | Item::Bool => 1,
        }
    }
}

/// An array, little endian.
#[derive(Debug, Clone)]
pub(super) struct Array<'a> {
    item: Item,
    shape: Vec<usize>,
    fortran_order: bool,
    bytes: Cow<'a, [u8]>,
}

impl<'a> Array<'a> {
    /// Checks that there are as many bytes as the shape takes.
    pub fn new(
        item: Item,
        shape: Vec<usize>,
        fortran_order: bool,
        bytes: Cow<'a, [u8]>,
    ) -> Result<Array<'a>, Problem> {
        let announced = shape.iter().try_fold(item.bytes(), |product, &n| product.checked_mul(n));
        if announced != Some(bytes.len()) {
            return problem!(
                "an array of the shape {shape:?} and type {item:?} has {} bytes; expected {}",
                bytes.len(),
                announced.map_or("more than there can be".to_owned(), |n| n.to_string())
            );
        }
        Ok(Array { item, shape, fortran_order, bytes })
    }

    fn numbers(&self) -> Vec<f64> {
        fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f64) -> Vec<f64> {
            bytes.as_chunks::<N>().0.iter().map(|b| number(*b)).collect()
        }
        match self.item {
            Item::F32 => each(&self.bytes, |b| f32::from_le_bytes(b).into()),
            Item::F64 => each(&self.bytes, f64::from_le_bytes),
            Item::I32 => each(&self.bytes, |b| i32::from_le_bytes(b).into()),
            Item::I64 => each(&self.bytes, |b| i64::from_le_bytes(b) as f64),
            Item::U8 => each(&self.bytes, |[b]: [u8; 1]| b.into()),
            Item::Bool => each(&self.bytes, |[b]: [u8; 1]| f64::from(u8::from(b != 0))),
        }
    }

    /// One axis of numbers; a single number counts as an axis of one.
    pub fn list(&self, name: &str) -> Result<Vec<f64>, Problem> {
        match self.shape.len() {
            0 | 1 => Ok(self.numbers()),
            _ => problem!("{name} has the shape {:?}; expected one axis", self.shape),
        }
    }

    /// Rows and columns, row by row.
    pub fn table(&self, name: &str) -> Result<Table, Problem> {
        let [rows, columns] = self.shape[..] else {
            return problem!("{name} has the shape {:?}; expected rows and columns", self.shape);
        };
        let mut values = self.numbers();
        if self.fortran_order {
            let turned = (0..values.len()).map(|i| values[i % columns * rows + i / columns]).collect();
            values = turned;
        }
        Ok(Table { rows, columns, values })
    }
}

/// Rows and columns of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
}

impl Table {
    /// In single precision. A number too large for it becomes infinite, which is refused later.
    pub fn single(&self) -> Vec<f32> {
        self.values.iter().map(|&value| value as f32).collect()
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..][..self.columns]
    }
}

/// Whole numbers of at least 0 that count steps.
pub(super) fn counts(name: &str, values: &[f64]) -> Result<Vec<usize>, Problem> {
    let count = |&value: &f64| match value >= 0.0 && value.fract() == 0.0 && value < 1e9 {
        true => Ok(value as usize),
        false => problem!("{name} holds {value}; expected numbers of steps"),
    };
    values.iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_must_be_as_many_as_the_shape_takes() {
        let array = |shape: Vec<usize>, n| Array::new(Item::F32, shape, false, Cow::Owned(vec![0; n]));
        assert!(array(vec![2, 3], 24).is_ok());
        for (shape, n) in [(vec![2, 3], 23), (vec![2], 0), (vec![usize::MAX, 2], 8), (vec![], 0)] {
            assert!(array(shape, n).is_err());
        }
    }

    #[test]
    fn fortran_order_is_turned() {
        // [[0, 1, 2], [3, 4, 5]] lies column by column.
        let array = Array::new(Item::U8, vec![2, 3], true, Cow::Owned(vec![0, 3, 1, 4, 2, 5])).unwrap();
        assert_eq!(array.table("x").unwrap().values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }
}
