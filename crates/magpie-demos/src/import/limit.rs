//! What an import may cost: a gigabyte of memory, or ten times the file if that is more.
//!
//! Files come from anywhere, so nothing is read before what it claims has been taken from what is left.

use std::cell::Cell;

use crate::error::{Problem, problem};

/// Memory that a file of any size may take.
const LEAST_MEMORY: u64 = 1 << 30;
/// And as a multiple of the file.
const TIMES_THE_FILE: u64 = 10;
/// Memory that a number takes while it is read: in double precision, and twice in single precision where episodes are
/// cut out of a table. A half more for what lies around it.
const BYTES_A_NUMBER: u64 = 24;
/// Numbers do not pack into a 64th, so a file that claims more is damaged or hostile. Small files are not worth the question.
const MOST_PACKED: u64 = 64;
const SMALL: u64 = 16 << 20;

/// The memory that the numbers of a file of `bytes` bytes may take in double precision.
pub(super) fn most_bytes(bytes: usize) -> u64 {
    let bytes = bytes as u64;
    let memory = LEAST_MEMORY.max(TIMES_THE_FILE.saturating_mul(bytes));
    // The file itself, and what a reader copies of it.
    let left = memory.saturating_sub(2 * bytes);
    let most = left / BYTES_A_NUMBER * size_of::<f64>() as u64;
    most.min(MOST_PACKED.saturating_mul(bytes).max(SMALL))
}

/// How many numbers may still be read from a file.
pub(super) struct Limit {
    file: usize,
    left: Cell<u64>,
}

impl Limit {
    /// For a file of this many bytes.
    pub fn of(file: usize) -> Limit {
        Limit { file, left: Cell::new(most_bytes(file) / size_of::<f64>() as u64) }
    }

    /// Takes `count` numbers, which `name` claims to have; nothing if they are too many to count.
    pub fn take(&self, name: &str, count: Option<u64>) -> Result<(), Problem> {
        let left = self.left.get();
        match count.and_then(|count| left.checked_sub(count)) {
            Some(rest) => {
                self.left.set(rest);
                Ok(())
            }
            None => {
                let count = count.map_or("more than can be counted".to_owned(), |count| count.to_string());
                problem!(
                    "{name} claims {count} numbers; at most {left} more are read from a file of {} bytes, within the limit \
                     of 1 GB of memory, or ten times the file, and 64 times what it could have packed: write it again \
                     without what is not needed, or split it",
                    self.file
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gigabyte_or_ten_times_the_file() {
        for file in [0, 1_000, 10 << 20, 100 << 20, 1 << 30, 4 << 30] {
            let numbers = most_bytes(file) / 8;
            let peak = numbers * BYTES_A_NUMBER + 2 * file as u64;
            assert!(peak <= LEAST_MEMORY.max(10 * file as u64), "{file}: {peak}");
            // What is not packed can be read: eight bytes a number, or four in files of any use.
            assert!(numbers >= file as u64 / 4, "{file}");
        }
        let limit = Limit::of(1000);
        limit.take("a", Some(2_000_000)).unwrap();
        limit.take("b", Some(97_152)).unwrap();
        let error = limit.take("c", Some(1)).unwrap_err().0;
        assert!(error.contains("c claims 1 numbers; at most 0 more"), "{error}");
        assert!(limit.take("d", None).unwrap_err().0.contains("more than can be counted"));
    }
}
