//! Encoding of state that is kept between iterations.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::SearchError;

/// Encodes a state. `whose` names its owner in messages.
pub fn encode<T: Serialize>(whose: &str, state: &T) -> Result<Vec<u8>, SearchError> {
    postcard::to_stdvec(state).map_err(|e| broken(whose, &e))
}

/// Decodes a state written by [`encode`].
pub fn decode<T: DeserializeOwned>(whose: &str, record: &[u8]) -> Result<T, SearchError> {
    postcard::from_bytes(record).map_err(|e| broken(whose, &e))
}

fn broken(whose: &str, problem: &postcard::Error) -> SearchError {
    SearchError::Record { whose: whose.to_owned(), problem: problem.to_string() }
}
