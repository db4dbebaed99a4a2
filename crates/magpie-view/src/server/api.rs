//! What is answered.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query as Asked, State};
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use futures_util::{Stream, StreamExt};
use magpie_run::operations::{past_picture, past_pictures};
use tokio_stream::wrappers::BroadcastStream;

use super::App;
use super::guard::guard;
use crate::error::ViewError;
use crate::gait::{Precision, Query};
use crate::page;
use crate::run::{Bytes, Run};

/// How long a gait may wait for its turn.
const TURN: Duration = Duration::from_secs(20);

pub fn router(app: &Arc<App>) -> Router {
    let head = "<link rel=\"stylesheet\" href=\"/page.css\">\n<script src=\"/page.js\" defer></script>";
    let page = page::html(head, "");
    let typed = |kind: &'static str, text: String| {
        let answer = move || async move { ([(header::CONTENT_TYPE, kind)], text) };
        get(answer)
    };
    Router::new()
        .route("/", typed("text/html; charset=utf-8", page))
        .route("/page.css", typed("text/css; charset=utf-8", page::STYLE.to_owned()))
        .route("/page.js", typed("text/javascript; charset=utf-8", page::SCRIPT.clone()))
        .route("/api/runs", get(runs))
        .route("/api/run/{run}/outline", get(outline))
        .route("/api/run/{run}/metrics", get(metrics))
        .route("/api/run/{run}/gait", get(gait))
        .route("/api/run/{run}/pictures", get(pictures))
        .route("/api/run/{run}/picture/{iteration}", get(picture))
        .route("/api/events", get(events))
        .fallback(|| async { (StatusCode::NOT_FOUND, "there is no such page") })
        .layer(middleware::from_fn_with_state(Arc::clone(app), guard))
        .with_state(Arc::clone(app))
}

/// An answer that takes a while is computed where it keeps nobody else waiting.
async fn of_run<T: Send + 'static>(
    app: Arc<App>,
    run: usize,
    what: impl FnOnce(&Run) -> Result<T, ViewError> + Send + 'static,
) -> Result<T, Response> {
    if run >= app.runs.len() {
        return Err((StatusCode::NOT_FOUND, "there is no such run").into_response());
    }
    let told = tokio::task::spawn_blocking(move || what(&app.runs[run])).await;
    match told {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(e)) => Err((StatusCode::UNPROCESSABLE_ENTITY, e.to_string()).into_response()),
        Err(_) => {
            let problem = "this run made the server stumble; `magpie check` may say what is wrong with it";
            Err((StatusCode::INTERNAL_SERVER_ERROR, problem).into_response())
        }
    }
}

fn json(bytes: &Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], bytes.to_vec()).into_response()
}

async fn runs(State(app): State<Arc<App>>) -> Response {
    axum::Json(app.runs.iter().map(Run::name).collect::<Vec<_>>()).into_response()
}

async fn outline(State(app): State<Arc<App>>, Path(run): Path<usize>) -> Result<Response, Response> {
    Ok(json(&of_run(app, run, Run::outline).await?))
}

async fn metrics(State(app): State<Arc<App>>, Path(run): Path<usize>) -> Result<Response, Response> {
    Ok(json(&of_run(app, run, Run::metrics).await?))
}

async fn gait(
    State(app): State<Arc<App>>,
    Path(run): Path<usize>,
    query: Result<Asked<Query>, QueryRejection>,
) -> Result<Response, Response> {
    let Asked(query) = query.map_err(|e| (StatusCode::BAD_REQUEST, e.body_text()).into_response())?;
    let busy = || {
        (StatusCode::SERVICE_UNAVAILABLE, "too many gaits are asked for at once; try again").into_response()
    };
    let turn = tokio::time::timeout(TURN, Arc::clone(&app.gaits).acquire_owned()).await;
    let Ok(Ok(turn)) = turn else { return Err(busy()) };
    // The work goes on when its client has gone away, and keeps its turn until it is done.
    let work = move |run: &Run| {
        let _turn = turn;
        run.gait(&query, Precision::Full)
    };
    let bytes = of_run(app, run, work).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

async fn pictures(State(app): State<Arc<App>>, Path(run): Path<usize>) -> Result<Response, Response> {
    let found = of_run(app, run, |run| Ok(past_pictures(run.folder())?)).await?;
    Ok(axum::Json(found.iter().map(|picture| picture.iteration).collect::<Vec<_>>()).into_response())
}

async fn picture(
    State(app): State<Arc<App>>,
    Path((run, iteration)): Path<(usize, u64)>,
) -> Result<Response, Response> {
    let found = of_run(app, run, move |run| {
        let all = past_pictures(run.folder())?;
        let picture = all.iter().find(|picture| picture.iteration == iteration);
        Ok(picture.map(|picture| past_picture(run.folder(), picture)).transpose()?)
    });
    match found.await? {
        Some(png) => Ok(([(header::CONTENT_TYPE, "image/png")], png).into_response()),
        None => Err((StatusCode::NOT_FOUND, "no picture was drawn in this iteration").into_response()),
    }
}

async fn events(State(app): State<Arc<App>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    // Those who fall behind miss changes of parts that change again.
    let changes = BroadcastStream::new(app.changes.subscribe()).filter_map(|change| async {
        let event = Event::default().event("changed").json_data(change.ok()?).ok()?;
        Some(Ok(event))
    });
    Sse::new(changes).keep_alive(KeepAlive::default())
}
