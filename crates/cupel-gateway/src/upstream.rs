//! Where requests go, and how they get there.

use std::net::{IpAddr, SocketAddr};
use std::path::Path as File;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::{HttpConnector, capture_connection};
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::config::{Config, ConfigError, UpstreamConfig};
use crate::glob;
use crate::path::Path;

/// Client that sends requests.
pub(crate) type Sender = Client<HttpsConnector<HttpConnector>, Body>;

/// Where some requests go.
#[derive(Debug)]
pub(crate) struct Upstream {
    /// Scheme and authority, as in `https://api.openai.com`: its name in logs.
    pub(crate) name: String,
    /// Folder before every path, without a slash at its end.
    folder: String,
    path: Option<String>,
    model: Option<String>,
    /// Part of a path that stands for this upstream alone, and is not sent on; empty if there is none.
    stripped: String,
}

impl Upstream {
    pub(crate) fn read(place: &str, entry: &UpstreamConfig) -> Result<Self, ConfigError> {
        let UpstreamConfig { url, path, model, strip } = entry;
        let shown = without_password(url);
        let wrong = |text: &str| ConfigError::new(format!("{place}: `{shown}`: {text}"));
        let uri: Uri = url.parse().map_err(|_| wrong("is no URL; write it as https://host"))?;
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"));
        let scheme = scheme.ok_or_else(|| wrong("must begin with https:// or http://"))?;
        let authority = uri.authority().ok_or_else(|| wrong("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(ConfigError::new(format!(
                "{place}: must have no user or password; clients send their own keys"
            )));
        }
        if uri.query().is_some() {
            return Err(wrong("must have no query"));
        }
        if path.as_ref().is_some_and(|path| !path.starts_with('/')) {
            return Err(ConfigError::new(format!("{place}: path: must begin with a slash")));
        }
        let stripped = match path.as_deref().filter(|_| *strip) {
            None if *strip => {
                let text = format!("{place}: strip: there is no path to strip; give path");
                return Err(ConfigError::new(text));
            }
            stripped => stripped.unwrap_or_default().trim_end_matches('/').to_owned(),
        };
        Ok(Self {
            name: format!("{scheme}://{authority}"),
            folder: uri.path().trim_end_matches('/').to_owned(),
            path: path.clone(),
            model: model.clone(),
            stripped,
        })
    }

    /// All that are configured, the default last.
    pub(crate) fn read_all(config: &Config) -> Result<Vec<Self>, ConfigError> {
        let named = config.upstreams.iter().enumerate();
        let mut all = named
            .map(|(at, entry)| Self::read(&format!("upstreams[{at}]"), entry))
            .collect::<Result<Vec<_>, _>>()?;
        if let Some(url) = &config.upstream {
            all.push(Self::read("upstream", &UpstreamConfig::new(url.clone()))?);
        }
        if all.is_empty() {
            let text = "nobody to send requests to; give --upstream URL, as in \
                        --upstream https://api.openai.com";
            return Err(ConfigError::new(text));
        }
        Ok(all)
    }

    /// Returns true if it is at an address of this machine that is listened at.
    pub(crate) fn is_at(&self, local: SocketAddr) -> bool {
        let Ok(uri) = self.name.parse::<Uri>() else { return false };
        let port = uri.port_u16().unwrap_or(if self.name.starts_with("https") { 443 } else { 80 });
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let ip = match host.parse::<IpAddr>() {
            Ok(ip) => ip.to_canonical(),
            Err(_) if host.eq_ignore_ascii_case("localhost") => IpAddr::from([127, 0, 0, 1]),
            Err(_) => return false,
        };
        let here = local.ip().to_canonical();
        let is_machine = ip.is_loopback() || ip.is_unspecified();
        let is_here = ip == here || is_machine && (here.is_loopback() || here.is_unspecified());
        port == local.port() && is_here
    }

    /// Returns true if it stands in this machine or network, as servers of open models do.
    pub(crate) fn is_local(&self) -> bool {
        let Ok(uri) = self.name.parse::<Uri>() else { return false };
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
        match host.parse::<IpAddr>().map(|ip| ip.to_canonical()) {
            Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
            Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local(),
            Err(_) => {
                let ends = [".local", ".lan", ".internal", ".localhost"];
                !host.contains('.') || ends.iter().any(|end| host.ends_with(end))
            }
        }
    }

    /// Returns true if it takes what is sent to a path for a model.
    pub(crate) fn takes(&self, path: &Path, model: Option<&str>) -> bool {
        let is_path = self.path.as_deref().is_none_or(|folder| path.is_below(folder));
        let is_model = self
            .model
            .as_deref()
            .is_none_or(|pattern| model.is_some_and(|model| glob::matches(pattern, model)));
        is_path && is_model
    }

    /// Where a request goes: path and query as they came, behind the upstream's own.
    fn uri(&self, from: &Uri) -> Option<Uri> {
        let path = from.path_and_query().map_or("/", |path| path.as_str());
        // Whatever else follows, as `:9`, would become a part of the authority. A path that is written in another way than
        // it is configured, with percent signs, is not taken apart.
        let path = match path.strip_prefix(self.stripped.as_str())? {
            "" => "/",
            path if path.starts_with('/') => path,
            _ => return None,
        };
        // A base URL often ends with the version that the path begins with.
        let doubled = self.folder.rsplit_once('/').is_some_and(|(_, version)| {
            let rest = path[1..].strip_prefix(version);
            is_version(version) && rest.is_some_and(|rest| rest.starts_with('/'))
        });
        let folder = if doubled {
            self.folder.rsplit_once('/').map_or("", |(before, _)| before)
        } else {
            &self.folder
        };
        format!("{}{folder}{path}", self.name).parse().ok()
    }

    /// A request of the gateway's own, by a path as servers have it: behind the upstream's own folder but for its version.
    pub(crate) fn own_request(
        &self,
        method: &Method,
        path: &Uri,
        headers: HeaderMap,
        body: Body,
    ) -> Option<Request<Body>> {
        let mut request = Request::new(body);
        let folder = match self.folder.rsplit_once('/') {
            Some((before, last)) if is_version(last) => before,
            _ => &self.folder,
        };
        *request.method_mut() = method.clone();
        *request.uri_mut() = format!("{}{folder}{path}", self.name).parse().ok()?;
        *request.headers_mut() = headers;
        Some(request)
    }

    /// The request as it goes out.
    pub(crate) fn request(
        &self,
        method: &Method,
        uri: &Uri,
        headers: HeaderMap,
        body: Body,
    ) -> Option<Request<Body>> {
        let mut request = Request::new(body);
        *request.method_mut() = method.clone();
        *request.uri_mut() = self.uri(uri)?;
        *request.headers_mut() = headers;
        Some(request)
    }
}

/// Returns true if a folder names a version, as `v1` does.
fn is_version(folder: &str) -> bool {
    let rest = folder.strip_prefix('v').unwrap_or_default();
    rest.starts_with(|letter: char| letter.is_ascii_digit())
}

/// An address as it is quoted: what stands before its `@` may be a password, and what stands behind its
/// question mark a key.
fn without_password(url: &str) -> String {
    let (url, query) = url.split_once('?').map_or((url, ""), |(before, _)| (before, "?…"));
    let begin = url.find("://").map_or(0, |at| at + 3);
    let authority = url[begin..].split('/').next().unwrap_or_default();
    match authority.rfind('@') {
        Some(at) => format!("{}…{}{query}", &url[..begin], &url[begin + at..]),
        None => format!("{url}{query}"),
    }
}

/// Headers that belong to one connection and not to the message that is sent over it.
const OF_CONNECTION: [HeaderName; 8] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];

/// The headers that go on, whichever way.
pub(crate) fn passing(headers: &HeaderMap) -> HeaderMap {
    let named: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(',').map(|name| name.trim().to_ascii_lowercase()))
        .collect();
    kept(headers, |name| {
        !OF_CONNECTION.contains(name) && !named.iter().any(|named| named == name.as_str())
    })
}

/// Some of the headers, in the order in which they came.
fn kept(headers: &HeaderMap, is_kept: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| is_kept(name));
    let mut map = HeaderMap::with_capacity(headers.len());
    for (name, value) in kept {
        map.append(name, value.clone());
    }
    map
}

/// The headers of a request that go on, and whom it came by.
pub(crate) fn passing_on(headers: &HeaderMap, via: &HeaderValue) -> HeaderMap {
    // The host is the upstream's, and who waits for `100 Continue` has got it from us.
    let is_kept = |name: &HeaderName| !matches!(*name, header::HOST | header::EXPECT);
    let mut headers = kept(&passing(headers), is_kept);
    headers.append(header::VIA, via.clone());
    headers
}

/// Returns true if a request came by this gateway before: one of its upstreams leads back to it.
pub(crate) fn has_been_here(headers: &HeaderMap, via: &HeaderValue) -> bool {
    let own = via.as_bytes();
    headers.get_all(header::VIA).iter().any(|value| {
        value.as_bytes().split(|byte| *byte == b',').any(|hop| hop.trim_ascii() == own)
    })
}

/// Gives a body its length.
pub(crate) fn set_length(headers: &mut HeaderMap, length: usize) {
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
}

/// Makes the client that sends requests: it keeps connections, and trusts whom the system trusts.
pub(crate) fn sender(config: &Config, is_secure: bool) -> Result<Sender, ConfigError> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(config.server.connect_timeout.0));
    let tls = tls(config.ca.as_deref(), is_secure)?;
    let https = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(http);
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(60))
        .build(https))
}

fn tls(ca: Option<&File>, is_secure: bool) -> Result<ClientConfig, ConfigError> {
    let mut roots = RootCertStore::empty();
    if is_secure {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if let Some(file) = ca {
        let wrong =
            |problem: String| ConfigError::new(format!("ca: {}: {problem}", file.display()));
        let read = CertificateDer::pem_file_iter(file).map_err(|error| wrong(error.to_string()))?;
        for certificate in read {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
    }
    if is_secure && roots.is_empty() {
        let text = "no certificates to trust on this machine; install ca-certificates, or give a \
                    PEM file by ca";
        return Err(ConfigError::new(text));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ConfigError::new(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// It cannot be reached.
    Unreachable(String),
    /// It took too long.
    Late,
    /// It broke off.
    Broken(String),
}

impl NoAnswer {
    /// The reason in words.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Unreachable(cause) => format!("cannot be reached: {cause}"),
            Self::Broken(cause) => format!("broke off: {cause}"),
            Self::Late => "did not answer in time".to_owned(),
        }
    }

    fn of(error: &Error) -> Self {
        let mut causes = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            causes = cause.to_string();
            source = cause.source();
        }
        if error.is_connect() { Self::Unreachable(causes) } else { Self::Broken(causes) }
    }
}

/// Sends a request, and waits for the head of the answer.
pub(crate) async fn send(
    sender: &Sender,
    mut request: Request<Body>,
    patience: Duration,
) -> Result<Response<Incoming>, NoAnswer> {
    let connection = capture_connection(&mut request);
    match tokio::time::timeout(patience, sender.request(request)).await {
        Ok(Ok(answer)) if has_two_lengths(answer.headers()) => {
            // Whatever comes over it next may be what was left of this answer.
            if let Some(connected) = &*connection.connection_metadata() {
                connected.poison();
            }
            let text = "its answer has a length and is chunked, which is for smuggling";
            Err(NoAnswer::Broken(text.to_owned()))
        }
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(NoAnswer::of(&error)),
        Err(_) => Err(NoAnswer::Late),
    }
}

/// Returns true if an answer says in two ways where it ends: whoever reads it by the other takes what is left for
/// the next answer.
fn has_two_lengths(headers: &HeaderMap) -> bool {
    headers.contains_key(header::TRANSFER_ENCODING) && headers.contains_key(header::CONTENT_LENGTH)
}

/// Returns true if a request may be sent a second time though the first may have arrived, as over a connection that
/// its server was about to close: it changes nothing, or has a key by which the server tells it again.
pub(crate) fn is_repeatable(method: &Method, headers: &HeaderMap) -> bool {
    method.is_safe() || headers.contains_key("idempotency-key")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(url: &str) -> Result<Upstream, String> {
        let read = Upstream::read("upstream", &UpstreamConfig::new(url));
        read.map_err(|error| error.to_string())
    }

    fn goes(url: &str, path: &str) -> String {
        upstream(url).unwrap().uri(&path.parse().unwrap()).unwrap().to_string()
    }

    #[test]
    fn paths_are_kept_behind_the_upstreams_own() {
        assert_eq!(goes("https://a.b", "/v1/x?y=%20z"), "https://a.b/v1/x?y=%20z");
        assert_eq!(goes("https://a.b/api/", "/v1/x"), "https://a.b/api/v1/x");
        assert_eq!(goes("https://a.b/api/v1", "/v1/x"), "https://a.b/api/v1/x");
        assert_eq!(goes("https://a.b/v1", "/v1beta/x"), "https://a.b/v1/v1beta/x");
        assert_eq!(goes("https://a.b/vendor", "/vendor/x"), "https://a.b/vendor/vendor/x");
        assert_eq!(goes("https://a.b/x1", "/x1/y"), "https://a.b/x1/x1/y", "no version");
    }

    #[test]
    fn a_path_that_stands_for_an_upstream_is_not_sent_on_and_changes_no_authority() {
        let local = UpstreamConfig::new("http://a.b/api/v1").below("/local/");
        let local = Upstream::read("upstream", &local).unwrap();
        let goes = |path: &str| Some(local.uri(&path.parse().unwrap())?.to_string());
        assert_eq!(goes("/local/v1/x?y=z").as_deref(), Some("http://a.b/api/v1/x?y=z"));
        assert_eq!(goes("/local").as_deref(), Some("http://a.b/api/v1/"));
        for path in ["/local:9/x", "/local@c.d/x", "/local?x", "/loca%6c/x", "/other"] {
            assert_eq!(goes(path), None, "{path}");
        }
        let nothing = UpstreamConfig { strip: true, ..UpstreamConfig::new("http://a.b") };
        let error = Upstream::read("upstreams[0]", &nothing).unwrap_err();
        assert_eq!(error.to_string(), "upstreams[0]: strip: there is no path to strip; give path");
    }

    #[test]
    fn a_server_of_this_machine_or_network_is_local_and_asked_beside_its_version() {
        for url in [
            "http://127.0.0.1:8080",
            "http://localhost/v1",
            "http://[::1]:1",
            "http://10.1.2.3",
            "http://ollama:11434",
            "http://box.local",
            "http://host.docker.internal:11434",
        ] {
            assert!(upstream(url).unwrap().is_local(), "{url}");
        }
        for url in ["https://api.openai.com", "https://8.8.8.8", "http://local.example.org"] {
            assert!(!upstream(url).unwrap().is_local(), "{url}");
        }
        let asked = |url: &str| {
            let (path, headers) = (Uri::from_static("/props"), HeaderMap::new());
            let request =
                upstream(url).unwrap().own_request(&Method::GET, &path, headers, Body::empty());
            request.unwrap().uri().to_string()
        };
        assert_eq!(asked("http://h:8/v1"), "http://h:8/props");
        assert_eq!(asked("http://h:8/box/v1"), "http://h:8/box/props");
        assert_eq!(asked("http://h:8"), "http://h:8/props");
    }

    #[test]
    fn what_is_no_upstream_is_refused() {
        for url in ["", "api.openai.com", "ftp://x", "https://x?y", "/v1"] {
            assert!(upstream(url).is_err(), "{url}");
        }
        let secret = upstream("https://me:secret@x").unwrap_err();
        assert!(!secret.contains("secret"), "{secret}");
        for url in
            ["ftp://me:secret@x", "me:secret@x", "https://h?key=secret", "https://me:secret@ x"]
        {
            let told = upstream(url).unwrap_err();
            assert!(!told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn an_upstream_that_is_the_gateway_is_known_by_its_address() {
        let is_at = |url: &str, local: &str| upstream(url).unwrap().is_at(local.parse().unwrap());
        for (url, local) in [
            ("http://127.0.0.1:8790", "127.0.0.1:8790"),
            ("http://localhost:8790/v1", "0.0.0.0:8790"),
            ("http://[::1]:8790", "[::]:8790"),
            ("http://0.0.0.0:8790", "127.0.0.1:8790"),
            ("http://10.0.0.1", "10.0.0.1:80"),
        ] {
            assert!(is_at(url, local), "{url} {local}");
        }
        for (url, local) in [
            ("http://127.0.0.1:8791", "127.0.0.1:8790"),
            ("http://10.0.0.2:8790", "10.0.0.1:8790"),
            ("https://api.example:8790", "0.0.0.0:8790"),
        ] {
            assert!(!is_at(url, local), "{url} {local}");
        }
    }

    #[test]
    fn what_belongs_to_the_connection_stays_behind() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Mine"),
            ("x-mine", "1"),
            ("te", "trailers"),
            ("host", "gateway"),
            ("authorization", "Bearer k"),
            ("anthropic-beta", "a"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let via = HeaderValue::from_static("1.1 cupel-0");
        let passing = passing_on(&headers, &via);
        let names: Vec<&str> = passing.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["authorization", "anthropic-beta", "via"]);
        assert!(has_been_here(&passing, &via));
        for (others, is_ours) in
            [("1.1 a, 1.1 cupel-0", true), ("1.1 cupel-00", false), ("", false)]
        {
            let headers = HeaderMap::from_iter([(header::VIA, others.parse().unwrap())]);
            assert_eq!(has_been_here(&headers, &via), is_ours, "{others}");
        }
    }

    #[test]
    fn the_first_upstream_that_takes_path_and_model_gets_a_request() {
        let config = crate::config::parse_for_tests(
            "upstream = 'https://rest'\n[[upstreams]]\nurl = 'https://a'\npath = '/v1/messages'\n\
             model = 'claude-*'\n[[upstreams]]\nurl = 'https://b'\nmodel = 'gpt-*'\n",
        );
        let all = Upstream::read_all(&config).unwrap();
        let takes = |path: &str, model: Option<&str>| {
            let path = Path::read(path, true).unwrap();
            let found = all.iter().find(|upstream| upstream.takes(&path, model));
            found.map(|upstream| upstream.name.clone()).unwrap()
        };
        assert_eq!(takes("/v1/messages", Some("claude-x")), "https://a");
        assert_eq!(takes("/v1/messages", Some("gpt-x")), "https://b");
        assert_eq!(takes("/v1/other", Some("claude-x")), "https://rest");
        assert_eq!(takes("/v1/messages", None), "https://rest");
        let slashless = "[[upstreams]]\nurl = 'https://a'\npath = 'v1'";
        let error = Upstream::read_all(&crate::config::parse_for_tests(slashless)).unwrap_err();
        assert_eq!(error.to_string(), "upstreams[0]: path: must begin with a slash");
        let none = Upstream::read_all(&crate::config::parse_for_tests("")).unwrap_err();
        assert!(none.to_string().starts_with("nobody to send requests to"));
    }

    #[test]
    fn a_request_goes_out_with_its_method_headers_and_length() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(5));
        set_length(&mut headers, 7);
        let uri = "/v1/x".parse().unwrap();
        let request = upstream("https://a.b")
            .unwrap()
            .request(&Method::POST, &uri, headers, Body::empty())
            .unwrap();
        assert_eq!((request.method(), request.uri().host()), (&Method::POST, Some("a.b")));
        assert_eq!(request.headers()[header::CONTENT_LENGTH], "7");
    }
}
