//! Where the server is asked: the standard streams, or HTTP on loopback.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::Settings;
use crate::server::Server;

/// The one path that is answered.
const PATH: &str = "/mcp";

/// A conversation of a million tokens has 4 to 8 MB.
const LARGEST_BODY: usize = 32 * 1024 * 1024;

/// The most connections at once, the time for a client to say what it wants, and the time for calls to end.
const CONNECTIONS: usize = 64;
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
const ENDING: Duration = Duration::from_secs(5);

/// Why a server does not run, or no longer.
#[derive(Debug)]
pub enum ServeError {
    /// The address is not on this machine alone.
    NotLoopback(SocketAddr),
    /// It cannot listen or read.
    Io(io::Error),
    /// The client did not speak the protocol.
    Protocol(String),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoopback(address) => {
                write!(
                    f,
                    "{address}: is no address of this machine alone; listen at 127.0.0.1 or [::1]"
                )
            }
            Self::Io(error) => error.fmt(f),
            Self::Protocol(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// Answers on the standard streams until the client closes them.
///
/// # Errors
///
/// If the client does not speak the protocol.
pub fn serve_stdio(settings: Settings) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let protocol = |error: &dyn fmt::Display| ServeError::Protocol(error.to_string());
        let running = Server::new(settings).serve(rmcp::transport::stdio()).await;
        let running = match running {
            // A client that leaves before it says anything is no error.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            other => other.map_err(|error| protocol(&error))?,
        };
        running.waiting().await.map(drop).map_err(|error| protocol(&error))
    });
    // A thread that still waits for the standard input would keep the process.
    runtime.shutdown_background();
    served
}

/// Answers at an address on loopback until SIGINT or SIGTERM. `ready` is told where it listens. With a `token`, every
/// request has to bear it.
///
/// # Errors
///
/// If the address is not on loopback, or cannot be listened at.
pub fn serve_http(
    settings: Settings,
    address: SocketAddr,
    token: Option<&str>,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    runtime()?.block_on(async {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        ready(address);
        listen(&listener, Server::new(settings), address, token).await
    })
}

async fn listen(
    listener: &TcpListener,
    server: Server,
    address: SocketAddr,
    token: Option<&str>,
) -> Result<(), ServeError> {
    // A page in a browser may reach loopback too: it must not be answered, whatever name it calls us by.
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts([
            format!("127.0.0.1:{}", address.port()),
            format!("localhost:{}", address.port()),
            format!("[::1]:{}", address.port()),
        ])
        .enforce_origin_validation()
        .with_max_request_body_bytes(LARGEST_BODY);
    let stop = config.cancellation_token.clone();
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let expected: Option<Arc<str>> = token.map(|token| format!("Bearer {token}").into());
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let mut ended = std::pin::pin!(asked_to_end());
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    // Such as too many open files: the next one may be accepted again.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                stream
            }
            () = &mut ended => break,
        };
        // Who comes too many is closed at once, rather than left waiting.
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else { continue };
        let (service, expected) = (TowerToHyperService::new(service.clone()), expected.clone());
        let answer = service_fn(move |request: Request<Incoming>| {
            let (service, expected) = (service.clone(), expected.clone());
            async move {
                if let Some(refused) = refusal(&request, expected.as_deref()) {
                    return Ok::<_, Infallible>(refused.map(Either::Left));
                }
                let answered = hyper::service::Service::call(&service, request).await?;
                Ok(answered.map(Either::Right))
            }
        });
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN);
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), answer));
        tokio::spawn(async move {
            // A client that goes away is nobody's error.
            let _ = connection.await;
            drop(permit);
        });
    }
    stop.cancel();
    let _ = tokio::time::timeout(ENDING, graceful.shutdown()).await;
    Ok(())
}

/// The answer to a request that is none of ours, or that bears no token.
fn refusal(request: &Request<Incoming>, expected: Option<&str>) -> Option<Response<Full<Bytes>>> {
    let (status, text) = if request.uri().path() != PATH {
        (StatusCode::NOT_FOUND, "only /mcp is here\n")
    } else if expected
        .is_some_and(|expected| !bears(request.headers().get(header::AUTHORIZATION), expected))
    {
        (
            StatusCode::UNAUTHORIZED,
            "the token is missing or wrong; send `authorization: Bearer TOKEN`\n",
        )
    } else {
        return None;
    };
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    Some(response)
}

/// Whether a header is the expected one. Every byte is looked at, so that the time tells nothing.
fn bears(given: Option<&HeaderValue>, expected: &str) -> bool {
    let given = given.map_or(&b""[..], HeaderValue::as_bytes);
    let differences = given.iter().zip(expected.as_bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == expected.len() && differences == 0
}

/// Ends when the process is asked to.
async fn asked_to_end() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        let terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
        if let Ok(mut terminate) = terminate {
            tokio::select! {
                _ = interrupted => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
