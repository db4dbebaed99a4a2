//! Arrays, and the order of their numbers.

/// Numbers in C order: the last axis runs fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Array<T> {
    /// Length of each axis; none for a single number.
    pub shape: Vec<usize>,
    /// As many as the lengths multiply to.
    pub values: Vec<T>,
}

/// A shape as numpy prints it: `(8, 200, 3)`.
pub fn tuple(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// From the first axis fastest to the last axis fastest.
pub(crate) fn in_c_order<T: Copy>(values: &[T], shape: &[usize]) -> Vec<T> {
    // Axes of length 1 change no place, and a header may have thousands of them.
    let shape: Vec<usize> = shape.iter().copied().filter(|&n| n != 1).collect();
    let mut index = vec![0; shape.len()];
    let mut ordered = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        let place = index.iter().zip(&shape).rev().fold(0, |place, (i, n)| place * n + i);
        ordered.push(values[place]);
        for (i, &n) in index.iter_mut().zip(&shape).rev() {
            *i += 1;
            if *i < n {
                break;
            }
            *i = 0;
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_is_turned_into_c_order() {
        // [[0, 1, 2], [3, 4, 5]] lies in a Fortran-ordered file column by column.
        assert_eq!(in_c_order(&[0, 3, 1, 4, 2, 5], &[2, 3]), [0, 1, 2, 3, 4, 5]);
        let shape = [2, 3, 4];
        let place = |i: usize| (i / 12) + (i / 4 % 3) * 2 + (i % 4) * 6;
        let mut file = [0; 24];
        (0..24).for_each(|i| file[place(i)] = i);
        assert_eq!(in_c_order(&file, &shape), (0..24).collect::<Vec<_>>());
        assert_eq!(in_c_order(&file, &[1, 2, 1, 3, 4, 1]), (0..24).collect::<Vec<_>>());
    }
}
