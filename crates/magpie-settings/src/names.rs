//! Suggestions for misspelt names ("did you mean …?") in messages about data files and settings.
//!
//! ```
//! assert_eq!(magpie_settings::nearest("gama", ["gamma", "rollout"]), Some("gamma"));
//! assert_eq!(magpie_settings::remedy("gama", ["gamma", "rollout"]), r#"did you mean "gamma"?"#);
//! assert_eq!(magpie_settings::remedy("speed", ["gamma", "rollout"]), r#"valid here: "gamma", "rollout""#);
//! ```

/// The valid name that `name` probably stands for: at most every third letter differs.
pub fn nearest<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, nearest) = valid.into_iter().map(|v| (distance(name, v), v)).min_by_key(|(d, _)| *d)?;
    // With more wrong letters, a similarity is accidental.
    (3 * distance <= name.chars().count().max(3)).then_some(nearest)
}

/// A remedy for the unknown `name`: the nearest of the valid names, or all of them if none is near.
pub fn remedy<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    let valid: Vec<&str> = valid.into_iter().collect();
    match nearest(name, valid.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest:?}?"),
        None if valid.is_empty() => "there are no valid names".into(),
        None => format!("valid here: {}", list(&valid)),
    }
}

/// `"a", "b", "c"`
pub fn list(names: &[&str]) -> String {
    names.iter().map(|n| format!("{n:?}")).collect::<Vec<_>>().join(", ")
}

/// The smallest number of insertions, deletions, replacements and swaps of neighbouring letters, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        for (a, b, d) in [
            ("", "", 0),
            ("thigh", "thigh", 0),
            ("thihg", "thigh", 1),
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
        assert_eq!(remedy("wing", []), "there are no valid names");
    }
}
