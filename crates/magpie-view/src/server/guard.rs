//! Who may ask. A page elsewhere that a browser of this machine has open can send requests here, too: it is told from our own
//! page by `Host` (its own name, if it had its name resolved to us), `Origin` and `Sec-Fetch-Site`.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::App;
use crate::error::ViewError;

/// A request is never longer.
const LONGEST: usize = 4096;

/// Who may ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// Names by which this server is called, with the port.
    hosts: Vec<String>,
    /// Whether any number of an address will do: names can be pointed at us by others, numbers not.
    numbers: bool,
    port: u16,
    /// What those on other machines must know.
    token: Option<String>,
}

impl Access {
    /// For a server of this name at this address: a token is asked for unless only this machine can reach it.
    pub fn of(name: &str, address: SocketAddr) -> Result<Access, ViewError> {
        let port = address.port();
        let open = !address.ip().is_loopback();
        let token = match open {
            true => {
                let mut random = [0; 16];
                getrandom::fill(&mut random)
                    .map_err(|e| ViewError::Option(format!("no random numbers: {e}")))?;
                Some(random.iter().map(|byte| format!("{byte:02x}")).collect())
            }
            false => None,
        };
        let hosts =
            ["localhost", "127.0.0.1", "[::1]", name].map(|host| format!("{host}:{port}").to_lowercase());
        Ok(Access { hosts: hosts.to_vec(), numbers: open, port, token })
    }

    /// What is to be opened.
    pub fn url(&self, name: &str, address: SocketAddr) -> String {
        let host = match address.ip().is_unspecified() {
            true => "localhost".to_owned(),
            false if name.contains(':') => format!("[{name}]"),
            false => name.to_owned(),
        };
        let token = self.token.as_ref().map(|token| format!("?token={token}")).unwrap_or_default();
        format!("http://{host}:{}/{token}", self.port)
    }

    /// What those on other machines must know.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    fn is_ours(&self, host: &str) -> bool {
        let host = host.to_lowercase();
        let number = || host.parse::<SocketAddr>().is_ok_and(|at| at.port() == self.port);
        let bare = || self.port == 80 && host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        self.hosts.contains(&host) || self.numbers && (number() || bare())
    }

    fn cookie(&self) -> String {
        format!("magpie-{}", self.port)
    }

    fn is_known(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let wanted = format!("{}={token}", self.cookie());
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies.flat_map(|all| all.split(';')).any(|cookie| same(cookie.trim(), &wanted))
    }
}

/// Compares without telling by the time taken how much was right.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Refuses what does not come from our page, and says to browsers what our page may do.
pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let head_only = request.method() == Method::HEAD;
    let mut answer = match check(&app.access, &request) {
        Ok(()) => next.run(request).await,
        Err(answer) => *answer,
    };
    if head_only {
        *answer.body_mut() = axum::body::Body::empty();
    }
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Scripts and styles come from here and nowhere else, and no page may put ours into a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn check(access: &Access, request: &Request) -> Result<(), Box<Response>> {
    let refuse = |status: StatusCode, why: &'static str| Err(Box::new((status, why).into_response()));
    let headers = request.headers();
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or("?"));
    if request.uri().to_string().len() > LONGEST {
        return refuse(StatusCode::URI_TOO_LONG, "this address is too long");
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, "nothing can be changed here");
    }
    let empty = text(header::CONTENT_LENGTH).is_none_or(|length| length == "0");
    if !empty || headers.contains_key(header::TRANSFER_ENCODING) {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, "a request has no body here");
    }
    let hosts = headers.get_all(header::HOST).iter().count();
    if hosts != 1 || !text(header::HOST).is_some_and(|host| access.is_ours(host)) {
        return refuse(
            StatusCode::FORBIDDEN,
            "this server is not called so; use the address that magpie view printed",
        );
    }
    let own_origin = |origin: &str| origin.strip_prefix("http://").is_some_and(|host| access.is_ours(host));
    if text(header::ORIGIN).is_some_and(|origin| !own_origin(origin)) {
        return refuse(StatusCode::FORBIDDEN, "other pages may not ask here");
    }
    let path = request.uri().path();
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    // A link to the page itself may be anywhere.
    if site.is_some_and(|site| !["same-origin", "none"].contains(&site)) && path != "/" {
        return refuse(StatusCode::FORBIDDEN, "other pages may not ask here");
    }
    if access.is_known(headers) {
        return Ok(());
    }
    let given = request.uri().query().and_then(|query| query.strip_prefix("token="));
    match (path, given, access.token()) {
        ("/", Some(given), Some(token)) if same(given, token) => {
            let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict", access.cookie());
            let to = [(header::LOCATION, "/".to_owned()), (header::SET_COOKIE, cookie)];
            Err(Box::new((StatusCode::SEE_OTHER, to).into_response()))
        }
        _ => refuse(StatusCode::UNAUTHORIZED, "open the address with the token that magpie view printed"),
    }
}
