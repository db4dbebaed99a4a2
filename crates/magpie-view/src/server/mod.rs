//! The local page: who may ask, what is answered, and how many at once.
//!
//! The server listens on this machine alone unless it is told otherwise, and then asks for a token. Nothing but `GET` is
//! answered, and nothing is ever written.

mod api;
mod guard;
mod patience;
mod watch;

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, broadcast};

use crate::error::ViewError;
use crate::run::Run;
pub use guard::Access;
use patience::Patience;
use watch::Change;

/// Connections at once; more wait until one is closed.
const MOST_CONNECTIONS: usize = 512;
/// Gaits computed at once: a search may be using the other cores.
const MOST_GAITS: usize = 2;
/// How long a client may take for the head of a request, and between taking pieces of an answer.
const SLOWEST: Duration = Duration::from_secs(20);
/// A head is never longer.
const LONGEST_HEAD: usize = 16 << 10;

/// What every request sees.
pub struct App {
    runs: Vec<Run>,
    access: Access,
    gaits: Arc<Semaphore>,
    changes: broadcast::Sender<Change>,
}

impl App {
    /// Shows these runs to those who have access.
    pub fn new(runs: Vec<Run>, access: Access) -> Arc<App> {
        Arc::new(App {
            runs,
            access,
            gaits: Arc::new(Semaphore::new(MOST_GAITS)),
            changes: broadcast::channel(64).0,
        })
    }

    /// Everything that is answered.
    pub fn router(self: &Arc<App>) -> Router {
        api::router(self)
    }
}

/// A server that is about to begin.
pub struct Server {
    listener: TcpListener,
    app: Arc<App>,
    /// Where it listens.
    pub address: SocketAddr,
    /// What is to be opened in a browser.
    pub url: String,
}

/// Prepares a server: of this machine alone if `host` is not given. Port 0 is any free one.
pub fn serve(runs: Vec<Run>, host: Option<&str>, port: u16) -> Result<Server, ViewError> {
    let name = host.unwrap_or("127.0.0.1");
    let address = format!("{name}:{port}");
    let listen = |reason| ViewError::Listen { address: address.clone(), reason };
    let places: Vec<SocketAddr> = (name, port).to_socket_addrs().map_err(listen)?.collect();
    let listener = TcpListener::bind(&places[..]).map_err(listen)?;
    let address = listener.local_addr().map_err(listen)?;
    let access = Access::of(name, address)?;
    let url = access.url(name, address);
    Ok(Server { listener, app: App::new(runs, access), address, url })
}

impl Server {
    /// Whether others than this machine may ask.
    pub fn is_open(&self) -> bool {
        !self.address.ip().is_loopback()
    }

    /// Answers until the process is interrupted.
    pub fn run(self) -> Result<(), ViewError> {
        let failed = |reason| ViewError::Listen { address: self.address.to_string(), reason };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(failed)?;
        self.listener.set_nonblocking(true).map_err(failed)?;
        let (listener, app) = (self.listener, self.app);
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
            tokio::spawn(watch::watch(Arc::clone(&app)));
            tokio::select! {
                () = accept(listener, app.router()) => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            Ok(())
        })
    }
}

async fn accept(listener: tokio::net::TcpListener, router: Router) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Such as too many open files: soon there may be fewer.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let io = TokioIo::new(Patience::new(stream, SLOWEST));
            // A client that breaks off, or takes too long, is no fault of ours.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(SLOWEST)
                .max_buf_size(LONGEST_HEAD)
                .serve_connection(io, service)
                .await;
            drop(place);
        });
    }
}
