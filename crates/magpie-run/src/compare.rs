//! What tells a configuration from the one that a folder holds.

use std::path::Path;

use magpie_demos::Demonstrations;
use toml::{Table, Value};

use crate::directory::CONFIG;
use crate::driver::Plan;
use crate::error::RunError;
use crate::settings::{bring_up_to_date, read_text};
use crate::train::{DEMONSTRATIONS, Demos};
use crate::world::{EnvOverrides, ROBOT, TASK};
use crate::{clone, ppo, train};

/// A setting that has another value in the folder of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The setting.
    pub key: String,
    /// Its value in the folder.
    pub saved: String,
    /// Its value in the configuration that is compared.
    pub wanted: String,
}

impl Difference {
    /// The copy of a file in the folder is another one by now.
    fn of_file(copy: &str) -> Difference {
        let [saved, wanted] = ["in it".to_owned(), "otherwise".to_owned()];
        Difference { key: format!("another {copy}"), saved, wanted }
    }
}

impl train::Config {
    /// The first setting that differs from those of the run in a folder, how long to run apart.
    pub fn difference_from(&self, folder: &Path) -> Result<Option<Difference>, RunError> {
        let mut saved = read(folder)?;
        bring_up_to_date(&mut saved);
        match compare(folder, saved, &self.moved_in())? {
            None => {}
            found => return Ok(found),
        }
        if let Some(found) = other_file(&self.world, folder)? {
            return Ok(Some(found));
        }
        match self.validated()?.found {
            Some(wanted) => other_demonstrations(&wanted, folder),
            None => Ok(None),
        }
    }
}

impl ppo::Config {
    /// The first setting that differs from those of the run in a folder, how long to run apart.
    pub fn difference_from(&self, folder: &Path) -> Result<Option<Difference>, RunError> {
        let wanted = ppo::Config { world: self.world.moved_in(), ..self.clone() };
        match compare(folder, read(folder)?, &wanted)? {
            None => other_file(&self.world, folder),
            found => Ok(found),
        }
    }
}

impl clone::Config {
    /// The first setting that differs from those of the run in a folder, how long to run apart.
    pub fn difference_from(&self, folder: &Path) -> Result<Option<Difference>, RunError> {
        let demos = Demos { file: Some(DEMONSTRATIONS.into()), ..self.demos.clone() };
        let wanted = clone::Config { world: self.world.moved_in(), demos, ..self.clone() };
        match compare(folder, read(folder)?, &wanted)? {
            None => {}
            found => return Ok(found),
        }
        if let Some(found) = other_file(&self.world, folder)? {
            return Ok(Some(found));
        }
        other_demonstrations(&self.demonstrations()?, folder)
    }
}

fn unreadable(folder: &Path, problem: &dyn ToString) -> RunError {
    RunError::Config { path: folder.join(CONFIG), problem: problem.to_string() }
}

fn read(folder: &Path) -> Result<Table, RunError> {
    read_text(&folder.join(CONFIG))?.parse().map_err(|e| unreadable(folder, &e))
}

fn compare<C: Plan>(folder: &Path, mut saved: Table, wanted: &C) -> Result<Option<Difference>, RunError> {
    // Written and read again, so that both have been rounded alike.
    let wanted = toml::to_string_pretty(wanted).map_err(|e| unreadable(folder, &e))?;
    let mut wanted: Table = wanted.parse().map_err(|e| unreadable(folder, &e))?;
    for table in [&mut saved, &mut wanted] {
        match C::LENGTH.split_once('.') {
            None => table.remove(C::LENGTH),
            Some((inner, key)) => table.get_mut(inner).and_then(|t| t.as_table_mut()?.remove(key)),
        };
    }
    Ok(difference("", &Value::Table(saved), &Value::Table(wanted)))
}

/// The copy of a task or robot file in the folder that is another one by now.
fn other_file(world: &EnvOverrides, folder: &Path) -> Result<Option<Difference>, RunError> {
    for (original, copy) in [(&world.task, TASK), (&world.robot, ROBOT)] {
        if let Some(original) = original
            && read_text(original)? != read_text(&folder.join(copy))?
        {
            return Ok(Some(Difference::of_file(copy)));
        }
    }
    Ok(None)
}

fn other_demonstrations(wanted: &Demonstrations, folder: &Path) -> Result<Option<Difference>, RunError> {
    let copy = Demonstrations::load(&folder.join(DEMONSTRATIONS))?;
    Ok((copy.anonymous() != wanted.anonymous()).then(|| Difference::of_file(DEMONSTRATIONS)))
}

/// The first setting that differs, with both values.
fn difference(path: &str, saved: &Value, wanted: &Value) -> Option<Difference> {
    let (Value::Table(old), Value::Table(new)) = (saved, wanted) else {
        let (key, saved_text, wanted_text) = (path.to_owned(), saved.to_string(), wanted.to_string());
        return (saved != wanted).then_some(Difference { key, saved: saved_text, wanted: wanted_text });
    };
    let keys = new.keys().chain(old.keys().filter(|key| !new.contains_key(*key)));
    keys.into_iter().find_map(|key| {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let said = |value: Option<&Value>| value.map_or_else(|| "not set".to_owned(), Value::to_string);
        match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) => difference(&path, old, new),
            (old, new) => Some(Difference { key: path, saved: said(old), wanted: said(new) }),
        }
    })
}

#[cfg(test)]
mod tests {
    use magpie_rewards::ModelName;
    use magpie_settings::Method;

    use super::*;
    use crate::directory::write_whole;
    use crate::train::Budget;

    #[test]
    fn what_differs_is_named_with_both_values_and_the_length_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let new =
            || train::Config::new("hopper", "jump", ModelName::True, Method::Magpie, Budget::Quick).unwrap();
        let mut frictionless = new();
        frictionless.world.friction = 0.0;
        let text = toml::to_string_pretty(&frictionless).unwrap();
        write_whole(&folder.path().join(CONFIG), text.as_bytes()).unwrap();
        let longer = train::Config { iterations: 7, ..frictionless };
        assert_eq!(longer.difference_from(folder.path()).unwrap(), None);
        let found = new().difference_from(folder.path()).unwrap().unwrap();
        assert_eq!(
            (found.key.as_str(), found.saved.as_str(), found.wanted.as_str()),
            ("world.friction", "0.0", "1.0")
        );
    }
}
