//! Reading a robot: from text, from a file, or one of those that come with the crate.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::error::{MAX_FILE_BYTES, RobotError};
use super::file::RobotFile;
use super::{Robot, build};

/// The robots that come with the crate: name and robot file.
pub const BUILTIN: [(&str, &str); 5] = [
    ("halfcheetah", include_str!("../../robots/halfcheetah.toml")),
    ("walker2d", include_str!("../../robots/walker2d.toml")),
    ("hopper", include_str!("../../robots/hopper.toml")),
    ("ant", include_str!("../../robots/ant.toml")),
    ("humanoid", include_str!("../../robots/humanoid.toml")),
];

impl Robot {
    /// Reads a robot from the text of a robot file. `origin` says in error messages where the text is from.
    ///
    /// Every number is read in single precision and widened: `0.05` means 0.05000000074505806. Angles are in
    /// degrees. The files in [`BUILTIN`] show the whole format.
    ///
    /// # Errors
    /// If the text is not TOML, has unknown or missing keys, or does not describe a robot.
    ///
    /// ```
    /// use magpie_physics::robot::Robot;
    ///
    /// let ball = r#"
    ///     name = "ball"
    ///     placement = "on_ground"
    ///     world = { control_dt = 0.02, substeps = 4, gravity = [0, 0, -9.81], penetration_correction = 0.1 }
    ///     ground = { friction = 0.8 }
    ///
    ///     [[body]]
    ///     name = "ball"
    ///     mass = 1
    ///     inertia = 0.004
    ///     capsules = [{ radius = 0.1, friction = 1 }]
    /// "#;
    /// assert_eq!(Robot::from_toml(ball, "ball.toml")?.bodies.len(), 1);
    ///
    /// let wrong = ball.replace("mass = 1", "mass = -1");
    /// let error = Robot::from_toml(&wrong, "ball.toml").unwrap_err();
    /// assert_eq!(error.to_string(), r#"ball.toml: body "ball".mass: found -1.0; must be above zero"#);
    /// # Ok::<(), magpie_physics::robot::RobotError>(())
    /// ```
    pub fn from_toml(text: &str, origin: &str) -> Result<Robot, RobotError> {
        if text.len() > MAX_FILE_BYTES {
            return Err(RobotError::TooLarge { origin: origin.into() });
        }
        build::robot(parse(text, origin)?).map_err(|fault| fault.within(origin))
    }

    /// Reads a robot file.
    ///
    /// # Errors
    /// If the file cannot be read, or for the reasons of [`Robot::from_toml`].
    pub fn load(path: &Path) -> Result<Robot, RobotError> {
        let origin = path.display().to_string();
        let unreadable = |reason| RobotError::Unreadable { origin: origin.clone(), reason };
        let mut bytes = Vec::new();
        // One byte more than allowed is enough to know that there are too many, even if the file has no end.
        let limit = MAX_FILE_BYTES as u64 + 1;
        File::open(path).and_then(|f| f.take(limit).read_to_end(&mut bytes)).map_err(unreadable)?;
        if bytes.len() > MAX_FILE_BYTES {
            return Err(RobotError::TooLarge { origin });
        }
        match str::from_utf8(&bytes) {
            Ok(text) => Robot::from_toml(text, &origin),
            Err(e) => {
                let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
                Err(RobotError::NotUtf8 { origin, line })
            }
        }
    }

    /// One of the robots in [`BUILTIN`].
    ///
    /// # Errors
    /// If there is no robot of that name.
    pub fn builtin(name: &str) -> Result<Robot, RobotError> {
        match BUILTIN.iter().find(|(n, _)| *n == name) {
            Some((_, text)) => Robot::from_toml(text, &format!("built-in robot {name:?}")),
            None => {
                let names = BUILTIN.map(|(n, _)| n);
                let mut remedy = format!("valid here: {}", magpie_settings::list(&names));
                let nearest = magpie_settings::remedy(name, names);
                if nearest != remedy {
                    remedy = format!("{nearest} ({remedy})");
                }
                Err(RobotError::UnknownBuiltin { name: name.into(), remedy })
            }
        }
    }
}

/// Text to TOML tables.
fn parse(text: &str, origin: &str) -> Result<RobotFile, RobotError> {
    let tables = toml::Deserializer::parse(text)
        .map_err(|e| format_error(text, origin, String::new(), &e, "correct the TOML".into()))?;
    serde_path_to_error::deserialize(tables).map_err(|e| {
        let path = e.path().to_string();
        // The parser calls the whole document ".".
        let field = if path == "." { "robot file".into() } else { path };
        let remedy = remedy(e.inner().message());
        format_error(text, origin, field, e.inner(), remedy)
    })
}

fn format_error(text: &str, origin: &str, field: String, e: &toml::de::Error, remedy: String) -> RobotError {
    let start = e.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let mut problem = e.message();
    if problem.starts_with("unknown ") {
        // The valid names are in the remedy.
        problem = problem.split(", expected").next().unwrap_or(problem);
    }
    let problem = problem
        .replace("expected f64", "expected a number")
        .replace("expected i64", "expected a whole number")
        .replace("expected usize", "expected a whole number from 0")
        .replace('\n', " ");
    RobotError::Format {
        origin: origin.into(),
        line: 1 + before.matches('\n').count(),
        column: 1 + before[line_start..].chars().count(),
        field,
        problem,
        remedy,
    }
}

/// What to do about a message of the deserialiser: "unknown field `mas`, expected one of `name`, `mass`",
/// "missing field `mass`", or a wrong type.
fn remedy(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown ") {
        let found = quoted.next().unwrap_or_default();
        magpie_settings::remedy(found, quoted)
    } else if message.starts_with("missing field") {
        format!("add `{} = ...`", quoted.next().unwrap_or_default())
    } else {
        "correct the value".into()
    }
}
