//! What changes while it is viewed. Files are looked at once a second, for all clients together.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::App;
use crate::run::{Part, Stamp};

/// A part of a run that has changed.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    run: usize,
    part: &'static str,
}

const EVERY: Duration = Duration::from_secs(1);

/// Looks at all runs for as long as the server lives.
pub async fn watch(app: Arc<App>) {
    let mut before = look(&app).await;
    loop {
        tokio::time::sleep(EVERY).await;
        // With nobody there, changes are noticed when somebody comes.
        if app.changes.receiver_count() == 0 {
            continue;
        }
        let now = look(&app).await;
        for (run, (old, new)) in before.iter().zip(&now).enumerate() {
            for (i, part) in ["archive", "metrics"].into_iter().enumerate() {
                if old[i] != new[i] {
                    let _ = app.changes.send(Change { run, part });
                }
            }
        }
        before = now;
    }
}

async fn look(app: &Arc<App>) -> Vec<[Stamp; 2]> {
    let app = Arc::clone(app);
    let look =
        move || app.runs.iter().map(|run| [run.stamp(Part::Archive), run.stamp(Part::Metrics)]).collect();
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}
