//! Actions as the environment takes them, and what had to be clipped.

use super::table::Table;
use crate::demonstrations::Clipped;

/// Actions in single precision, limited to ±1. What is not finite stays, to be refused.
#[derive(Debug, Default)]
pub(super) struct Actions {
    pub limited: Vec<f32>,
    pub clipped: Option<Clipped>,
}

impl Actions {
    /// Appends the actions of a table.
    pub fn add(&mut self, table: &Table) {
        let limit = |a: f64| if a.is_finite() { (a as f32).clamp(-1.0, 1.0) } else { a as f32 };
        self.limited.extend(table.values.iter().map(|&a| limit(a)));
        for (i, &value) in table.values.iter().enumerate() {
            if value.abs() <= 1.0 || !value.is_finite() {
                continue;
            }
            let clipped = self.clipped.get_or_insert(Clipped { outside: 0, of: 0, largest: 0.0, entry: 0 });
            clipped.outside += 1;
            if value.abs() > clipped.largest.abs() {
                (clipped.largest, clipped.entry) = (value, i % table.columns);
            }
        }
        if let Some(clipped) = &mut self.clipped {
            clipped.of = self.limited.len() as u64;
        }
    }

    /// What was changed, in words.
    pub fn repair(&self) -> Option<String> {
        let Clipped { outside, of, .. } = self.clipped?;
        Some(format!("{outside} of {of} entries of actions were limited to -1…1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_clipped_is_counted_with_the_largest() {
        let mut actions = Actions::default();
        actions.add(&Table { rows: 1, columns: 3, values: vec![0.5, 1.0, -1.0] });
        assert_eq!((actions.clipped, actions.repair()), (None, None));
        actions.add(&Table {
            rows: 2,
            columns: 3,
            values: vec![1.5, 0.0, -3.0, 2.0, f64::NAN, f64::INFINITY],
        });
        assert_eq!(actions.clipped, Some(Clipped { outside: 3, of: 9, largest: -3.0, entry: 2 }));
        assert_eq!(actions.limited[3..7], [1.0, 0.0, -1.0, 1.0]);
        assert!(actions.limited[7].is_nan() && actions.limited[8].is_infinite(), "to be refused");
    }
}
