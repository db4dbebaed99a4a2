//! Archives, emitters and metrics.
