//! The state of a reward model in a checkpoint.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::RewardError;

/// The state of a model, with the model's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    model: String,
    state: Vec<u8>,
}

impl Record {
    /// Encodes a model's state.
    pub fn new<T: Serialize>(model: &str, state: &T) -> Result<Record, RewardError> {
        let state = postcard::to_stdvec(state).map_err(|e| RewardError::Record { problem: e.to_string() })?;
        Ok(Record { model: model.to_owned(), state })
    }

    /// Decodes the state of the model with this name.
    pub fn state<T: DeserializeOwned>(&self, model: &str) -> Result<T, RewardError> {
        if self.model != model {
            let problem = format!("it is the state of {}, but the configuration uses {model}", self.model);
            return Err(RewardError::Record { problem });
        }
        postcard::from_bytes(&self.state).map_err(|e| RewardError::Record { problem: e.to_string() })
    }
}
