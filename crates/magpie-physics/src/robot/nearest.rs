//! "Did you mean …?": the valid name closest to a misspelt one.

/// A remedy for the unknown `name`: the nearest of the valid names, or all of them if none is near.
pub(super) fn remedy<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    let valid: Vec<&str> = valid.into_iter().collect();
    let nearest = valid.iter().map(|v| (distance(name, v), v)).min_by_key(|(d, _)| *d);
    match nearest {
        // More than every third letter wrong: the likeness is an accident.
        Some((d, v)) if 3 * d <= name.chars().count().max(3) => format!("did you mean {v:?}?"),
        Some(_) => format!("valid here: {}", list(&valid)),
        None => "there is nothing to refer to".into(),
    }
}

/// `"a", "b", "c"`
pub(super) fn list(names: &[&str]) -> String {
    names.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ")
}

/// Levenshtein distance without regard to case: the fewest insertions, deletions and replacements of letters.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        for (a, b, d) in [
            ("", "", 0),
            ("thigh", "thigh", 0),
            ("thihg", "thigh", 2),
            ("", "leg", 3),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), d, "{a} -> {b}");
            assert_eq!(distance(b, a), d, "{b} -> {a}");
        }
        assert_eq!(distance("Torso", "torso"), 0);
    }

    #[test]
    fn a_likely_slip_is_corrected_and_anything_else_gets_the_list() {
        assert_eq!(remedy("masss", ["name", "mass"]), r#"did you mean "mass"?"#);
        assert_eq!(remedy("wing", ["torso", "shin_left"]), r#"valid here: "torso", "shin_left""#);
        assert_eq!(remedy("wing", []), "there is nothing to refer to");
    }
}
