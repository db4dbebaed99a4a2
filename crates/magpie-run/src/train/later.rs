//! Settings that there were not from the beginning, and what searches did before.

use toml::{Table, Value};

const LATER: &str = r#"
[reward]
scaled = false
[search]
critic = 256
inward = false
patience = 0
waypoints = false
[search.curiosity]
archive = "soft"
credit = 1.0
falls = true
frontier = false
novelty = "empty"
unit = "step"
width = 2.0
"#;

/// Adds to the configuration of a search what it does not say because there was no such setting when it was written.
pub fn fill_in_later_settings(config: &mut Table) {
    let later: Table = LATER.parse().unwrap_or_default();
    fill_in(config, later);
}

fn fill_in(table: &mut Table, later: Table) {
    for (key, value) in later {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(table)), Value::Table(later)) => fill_in(table, later),
            (Some(_), _) => {}
            (None, value) => drop(table.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{Config, Preset};
    use magpie_envs::Measure;
    use magpie_rewards::ModelName;

    /// The paper's preset is what there was from the beginning.
    #[test]
    fn what_is_missing_is_what_the_paper_does() {
        let config = Config::new("walker2d", Measure::FeetContact, ModelName::Gail, Preset::Paper).unwrap();
        let whole: Table = toml::to_string(&config).unwrap().parse().unwrap();
        let mut older = whole.clone();
        assert!(older["reward"].as_table_mut().unwrap().remove("scaled").is_some());
        let search = older["search"].as_table_mut().unwrap();
        for key in ["critic", "inward", "patience", "waypoints"] {
            assert!(search.remove(key).is_some(), "{key}");
        }
        let curiosity = search["curiosity"].as_table_mut().unwrap();
        for key in ["archive", "credit", "falls", "frontier", "novelty", "unit", "width"] {
            assert!(curiosity.remove(key).is_some(), "{key}");
        }
        fill_in_later_settings(&mut older);
        assert_eq!(older, whole);
        // What is said stays.
        older["search"]["inward"] = Value::Boolean(true);
        fill_in_later_settings(&mut older);
        assert_eq!(older["search"]["inward"], Value::Boolean(true));
    }
}
