//! Reading a robot: from text, from a file, or a built-in one.

use std::path::Path;

use magpie_settings::{parse_data_file, read_data_file};

use super::error::RobotError;
use super::file::RobotFile;
use super::{Robot, build};

/// The kind of file, for messages.
const KIND: &str = "robot file";

/// The built-in robots: name and robot file.
pub const BUILTIN: [(&str, &str); 5] = [
    ("halfcheetah", include_str!("../../robots/halfcheetah.toml")),
    ("walker2d", include_str!("../../robots/walker2d.toml")),
    ("hopper", include_str!("../../robots/hopper.toml")),
    ("ant", include_str!("../../robots/ant.toml")),
    ("humanoid", include_str!("../../robots/humanoid.toml")),
];

impl Robot {
    /// Reads a robot from the text of a robot file. `origin` names the source of the text in error messages.
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
        let file: RobotFile = parse_data_file(text, origin, KIND)?;
        Ok(build::robot(file).map_err(|fault| fault.within(origin))?)
    }

    /// Reads a robot file.
    ///
    /// # Errors
    /// If the file cannot be read, or for the reasons of [`Robot::from_toml`].
    pub fn load(path: &Path) -> Result<Robot, RobotError> {
        Robot::from_toml(&read_data_file(path, KIND)?, &path.display().to_string())
    }

    /// One of the robots in [`BUILTIN`].
    ///
    /// # Errors
    /// If there is no built-in robot of that name.
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
