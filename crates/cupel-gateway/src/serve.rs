//! Listening, stopping, and reading the configuration again.

use std::convert::Infallible;
use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tower_service::Service as _;

use crate::app::App;
use crate::config::{ConfigError, LISTEN, Source};
use crate::connection::{self, Clients, Connection};
use crate::guard::{Ends, Guard};
use crate::page::{self, Pages};
use crate::path::{Path, Route};
use crate::proxy;
use crate::record::Exchange;
use crate::upstream;

/// Most headers of a request.
const MOST_HEADERS: usize = 200;

/// Time that log and collector may take for the rest, at the end.
const CLOSE: Duration = Duration::from_secs(5);

/// Answer to a client that has as many connections as it may.
const TOO_MANY_CONNECTIONS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n\
connection: close\r\ncontent-length: 0\r\n\r\n";

/// Time between two looks at the file of the configuration.
const LOOK: Duration = Duration::from_secs(1);

/// A gateway that has a place to listen at, and does not listen yet.
pub struct Gateway {
    app: Arc<App>,
    listener: TcpListener,
    local: SocketAddr,
    stop: watch::Sender<bool>,
}

/// A handle to a gateway that runs.
#[derive(Clone)]
pub struct Handle {
    app: Arc<App>,
}

impl Handle {
    /// Reads the configuration again. Connections and streams go on.
    ///
    /// # Errors
    ///
    /// If it cannot be read or makes no sense; then the old one holds.
    pub fn reload(&self) -> Result<(), ConfigError> {
        self.app.reload()
    }
}

impl Gateway {
    /// Reads the configuration and binds to its address. Must be called in a runtime.
    ///
    /// # Errors
    ///
    /// If the configuration makes no sense, or the address cannot be had.
    pub async fn bind(source: Source) -> Result<Self, ConfigError> {
        let app = App::new(source)?;
        let current = app.current();
        let address = current.setup.config.listen.as_deref().unwrap_or(LISTEN);
        let wrong = |error: std::io::Error| {
            let text = format!("listen: `{address}`: {}", cannot_listen(&error));
            ConfigError::new(text)
        };
        let listener = TcpListener::bind(address).await.map_err(wrong)?;
        let local = listener.local_addr().map_err(wrong)?;
        app.listens_at(local)?;
        Ok(Self { app, listener, local, stop: watch::channel(false).0 })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.local
    }

    /// The address of its page, with the token that opens it.
    #[must_use]
    pub fn page(&self) -> String {
        format!("http://{}{}", self.local, self.app.page_token().path())
    }

    pub(crate) fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// A handle to reload it by.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle { app: self.app.clone() }
    }

    /// Serves until `stop` is ready, and then for so long at most.
    pub(crate) async fn run_for(self, stop: impl Future<Output = ()>, linger: Duration) {
        let (stopped, mut is_stopped) = watch::channel(false);
        let stop = async move {
            stop.await;
            let _ = stopped.send(true);
        };
        let hurry = async move {
            let _ = is_stopped.wait_for(|is_stopped| *is_stopped).await;
            tokio::time::sleep(linger).await;
        };
        self.run(stop, hurry).await;
    }

    /// Serves until `stop` is ready, then lets streams end, for as long as the configuration says or
    /// until `hurry` is ready.
    pub async fn run(self, stop: impl Future<Output = ()>, hurry: impl Future<Output = ()>) {
        let Self { app, listener, stop: told, .. } = self;
        let pages = page::router(Pages { app: app.clone(), stop: told.subscribe() });
        let server = app.current().setup.config.server.clone();
        let places = Arc::new(Semaphore::new(server.connections.min(Semaphore::MAX_PERMITS)));
        let clients = Arc::new(Clients::default());
        let mut connections = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = accept(&listener, &places) => accepted,
                Some(_) = connections.join_next() => continue,
            };
            let Some((stream, peer, place)) = accepted else { continue };
            let Some(counted) = clients.count(peer.ip(), server.client_connections) else {
                app.metrics.connection_refused();
                // It is said in one packet or not at all: nobody is waited for.
                let _ = stream.try_write(TOO_MANY_CONNECTIONS);
                continue;
            };
            let (app, pages, mut told) = (app.clone(), pages.clone(), told.subscribe());
            let (head_limit, head_timeout) = (server.head_limit.0, server.head_timeout.0);
            let write_timeout = server.write_timeout.0;
            connections.spawn(async move {
                let _places = (place, counted);
                let Ok(local) = stream.local_addr() else { return };
                let _ = stream.set_nodelay(true);
                let stream = Connection::new(stream, write_timeout);
                let ends = Ends { peer, local };
                let service = service_fn(move |request| {
                    let (app, pages) = (app.clone(), pages.clone());
                    async move {
                        Ok::<_, Infallible>(Box::pin(answer(app, pages, ends, request)).await)
                    }
                });
                let mut builder = http1::Builder::new();
                builder.timer(TokioTimer::new()).header_read_timeout(head_timeout);
                builder.max_buf_size(head_limit.max(8_192)).max_headers(MOST_HEADERS);
                let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
                tokio::select! {
                    _ = connection.as_mut() => return,
                    _ = told.wait_for(|stop| *stop) => connection.as_mut().graceful_shutdown(),
                }
                let _ = connection.await;
            });
        }
        drop(listener);
        let _ = told.send(true);
        let drained = async { while connections.join_next().await.is_some() {} };
        tokio::select! {
            () = drained => {}
            () = tokio::time::sleep(server.drain.0) => {}
            () = hurry => {}
        }
        // Whatever is left is noted as it goes.
        app.cuts.store(true, Ordering::Relaxed);
        connections.shutdown().await;
        // A disk or a collector that takes nothing must not keep the process.
        let _ = tokio::time::timeout(CLOSE, app.close()).await;
    }
}

/// Why an address cannot be had, and what to do about it.
fn cannot_listen(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::InvalidInput => "is no address; write it as 127.0.0.1:8790".to_owned(),
        ErrorKind::AddrInUse => {
            "another program listens there; end it, or choose another port by --listen".to_owned()
        }
        ErrorKind::AddrNotAvailable => "is no address of this machine".to_owned(),
        _ => error.to_string(),
    }
}

type Accepted = (TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit);

/// The next connection, once there is room for it.
async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<Accepted> {
    let place = places.clone().acquire_owned().await.ok()?;
    if let Ok((stream, peer)) = listener.accept().await {
        return Some((stream, peer, place));
    }
    // Out of file descriptors, mostly: others will close some.
    tokio::time::sleep(Duration::from_millis(50)).await;
    None
}

/// Answers a request.
async fn answer(
    app: Arc<App>,
    pages: Router,
    ends: Ends,
    request: Request<Incoming>,
) -> Response<Body> {
    let current = app.current();
    let guard = &current.setup.guard;
    let (parts, body) = request.into_parts();
    let method = parts.method.clone();
    let refused = |path: &str, status: StatusCode, code: &str, message: &str| {
        let exchange = Exchange::begin(&app, method.as_str(), path, None);
        proxy::refused(exchange, status, code, message)
    };
    let raw = parts.uri.path().to_owned();
    if let Some(reason) = guard.refuses(&parts.headers, &parts.uri, parts.version, ends) {
        return refused(&raw, StatusCode::FORBIDDEN, "foreign", reason);
    }
    if upstream::has_been_here(&parts.headers, &app.via) {
        let text = "the request came by this gateway before: an upstream leads back to it";
        return refused(&raw, StatusCode::LOOP_DETECTED, "loop", text);
    }
    if method == Method::CONNECT {
        let text = "this is no open proxy";
        return refused(&raw, StatusCode::METHOD_NOT_ALLOWED, "no-proxy", text);
    }
    let path = match Path::read(&raw, method == Method::POST) {
        Ok(path) => path,
        Err(why) => return refused(&raw, StatusCode::BAD_REQUEST, "odd-path", &why.to_string()),
    };
    if let Route::Own(own) = &path.route {
        return own_page(&app, pages, own, parts, ends).await;
    }
    let upgrade = parts.headers.get(header::UPGRADE).and_then(|value| value.to_str().ok());
    if upgrade.is_some_and(|upgrade| upgrade.to_ascii_lowercase().contains("websocket")) {
        let text = "WebSockets are not passed on; use the HTTP API";
        // Clients that try a WebSocket first fall back to HTTP at once on this status, and not on others.
        let status = StatusCode::UPGRADE_REQUIRED;
        let mut answer = refused(&path.decoded, status, "no-websockets", text);
        answer.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("HTTP/1.1"));
        answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        return answer;
    }
    match path.route {
        Route::Fitted(api, ref model) => {
            let model = model.clone();
            Box::pin(proxy::fitted(&app, &current, &path, (api, model), parts, body)).await
        }
        _ => proxy::pass(&app, &current, &path, parts, body).await,
    }
}

/// One of the gateway's own pages, whose path may have been written in other ways.
async fn own_page(
    app: &App,
    mut pages: Router,
    own: &str,
    mut parts: hyper::http::request::Parts,
    ends: Ends,
) -> Response<Body> {
    let current = app.current();
    let (guard, headers) = (&current.setup.guard, &parts.headers);
    let mut cookie = None;
    match own {
        // Says nothing but that the gateway runs.
        "healthz" => {}
        "metrics" if guard.shows_metrics(headers, ends) => {}
        "metrics" => return page::closed(),
        _ if !guard.shows_page(headers, ends) => return page::closed(),
        _ if Guard::is_from_elsewhere(headers) => return page::closed(),
        _ => {
            let token = app.page_token();
            let port = ends.local.port();
            cookie = token.cookie(parts.uri.query(), port);
            let is_asset = cupel_page::assets().iter().any(|asset| asset.name == own);
            if cookie.is_none() && !is_asset && !token.is_in(headers, port) {
                return page::without_token();
            }
        }
    }
    let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let slash = if own.is_empty() { "" } else { "/" };
    let Ok(uri) = format!("/cupel{slash}{own}{query}").parse::<Uri>() else {
        return page::closed();
    };
    parts.uri = uri;
    let request = Request::from_parts(parts, Body::empty());
    let mut answer = match pages.call(request).await {
        Ok(answer) => answer,
        Err(never) => match never {},
    };
    if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
        answer.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    answer
}

/// Runs a gateway until a signal says otherwise: `SIGINT` and `SIGTERM` let streams end, a second one
/// ends at once; `SIGHUP` reads the configuration again, as does a change of its file. `ready` hears
/// where it listens, `tell` what happens later.
///
/// # Errors
///
/// If the configuration makes no sense, or the address cannot be had.
pub fn run(
    source: Source,
    ready: impl FnOnce(&Gateway),
    tell: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(), ConfigError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| ConfigError::new(format!("no threads to be had: {error}")))?;
    runtime.block_on(async {
        let descriptors = connection::raise_descriptors();
        let gateway = Gateway::bind(source).await?;
        ready(&gateway);
        let most = gateway.app.current().setup.config.server.connections;
        // One for the client and one for the upstream of each, and some for what else there is.
        let needed = u64::try_from(most).unwrap_or(u64::MAX).saturating_mul(2).saturating_add(64);
        if let Some(descriptors) = descriptors.filter(|most| *most < needed) {
            tell(&format!(
                "the system allows {descriptors} open files, and {most} connections need {needed}; \
                 raise it (ulimit -n), or lower server.connections"
            ));
        }
        let reloading = tokio::spawn(reload(gateway.app.clone(), tell));
        let (stop, hurry) = signals()?;
        gateway.run(stop, hurry).await;
        reloading.abort();
        Ok(())
    })
}

#[cfg(unix)]
fn signals() -> Result<(impl Future<Output = ()>, impl Future<Output = ()>), ConfigError> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |error: std::io::Error| ConfigError::new(format!("no signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut end = signal(SignalKind::terminate()).map_err(failed)?;
    let (first, mut second) = watch::channel(0_u32);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = end.recv() => {}
            }
            first.send_modify(|count| *count += 1);
        }
    });
    let mut once = second.clone();
    let stop = async move {
        let _ = once.wait_for(|count| *count >= 1).await;
    };
    let hurry = async move {
        let _ = second.wait_for(|count| *count >= 2).await;
    };
    Ok((stop, hurry))
}

#[cfg(not(unix))]
fn signals() -> Result<(impl Future<Output = ()>, impl Future<Output = ()>), ConfigError> {
    let stop = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    Ok((stop, std::future::pending()))
}

/// Reads the configuration again when told to, or when its file has changed.
async fn reload(app: Arc<App>, tell: impl Fn(&str)) {
    let file = app.source().file.clone();
    let changed = || {
        let file = file.as_ref()?;
        std::fs::metadata(file).and_then(|data| data.modified()).ok()
    };
    let mut known: Option<SystemTime> = changed();
    let mut hangup = hangups();
    loop {
        let is_told = tokio::select! {
            () = hangup.next() => true,
            () = tokio::time::sleep(LOOK) => false,
        };
        let now = changed();
        if !is_told && (now.is_none() || now == known) {
            continue;
        }
        known = now;
        // Files are read and certificates parsed: requests must not wait for that.
        let reloaded = tokio::task::spawn_blocking({
            let app = app.clone();
            move || app.reload()
        });
        match reloaded.await.unwrap_or(Ok(())) {
            Ok(()) => tell("the configuration was read again"),
            Err(error) => tell(&format!("the old configuration holds: {error}")),
        }
    }
}

struct Hangups {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

fn hangups() -> Hangups {
    Hangups {
        #[cfg(unix)]
        signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
    }
}

impl Hangups {
    async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal {
            signal.recv().await;
            return;
        }
        std::future::pending::<()>().await;
    }
}
