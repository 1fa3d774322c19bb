//! Guard against foreign requests: the names the gateway goes by, and the pages that may speak to it.

use std::net::{IpAddr, SocketAddr};

use hyper::header::{self, HeaderMap};
use hyper::{Uri, Version};

use crate::config::{Access, Config, ConfigError};

/// Guard against foreign requests.
#[derive(Debug)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    origins: Vec<String>,
    page: Access,
    metrics: Access,
}

/// The two ends of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    /// The client's.
    pub(crate) peer: SocketAddr,
    /// Ours.
    pub(crate) local: SocketAddr,
}

/// Headers by which a proxy says that somebody else asks.
const FORWARDED: [&str; 3] = ["forwarded", "x-forwarded-for", "x-real-ip"];

impl Guard {
    pub(crate) fn new(config: &Config) -> Result<Self, ConfigError> {
        for origin in &config.origins {
            if !origin.contains("://") || origin.ends_with('/') {
                let text = format!(
                    "origins: `{origin}`: must be scheme and host, as in http://localhost:3000"
                );
                return Err(ConfigError::new(text));
            }
        }
        for host in &config.hosts {
            let is_name =
                |letter: char| letter.is_ascii_alphanumeric() || "-._:[]".contains(letter);
            let is_alone = without_port(host) == host && host.chars().all(is_name);
            if host.is_empty() || !is_alone {
                let text = format!("hosts: `{host}`: must be a name alone, as in gateway.local");
                return Err(ConfigError::new(text));
            }
        }
        for name in &config.key_headers {
            if hyper::header::HeaderName::from_bytes(name.as_bytes()).is_err() {
                let text = format!("key_headers: `{name}`: is no name of a header");
                return Err(ConfigError::new(text));
            }
        }
        Ok(Self {
            hosts: config.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            origins: config.origins.iter().map(|origin| origin.to_ascii_lowercase()).collect(),
            page: config.page,
            metrics: config.metrics,
        })
    }

    /// Why a request is refused, if it is: whoever is called by a name that is not his own may be
    /// asked by a web page that was not meant to reach him.
    pub(crate) fn refuses(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
        version: Version,
        ends: Ends,
    ) -> Option<&'static str> {
        let mut named = headers.get_all(header::HOST).iter();
        let host = named.next().and_then(|host| host.to_str().ok());
        if named.next().is_some() {
            return Some("there is more than one Host header");
        }
        let host = match (host, version) {
            (Some(host), _) => host,
            (None, Version::HTTP_10) => return Some("the request has no Host header"),
            (None, _) => return Some("the Host header is missing or not text"),
        };
        if !self.is_ours(host, ends) {
            return Some("the Host header names another server; add it to hosts if it is this one");
        }
        if uri.authority().is_some_and(|other| !self.is_ours(other.as_str(), ends)) {
            return Some("the request is for another server, and this is no open proxy");
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let is_foreign = origins
            .any(|origin| origin.to_str().map_or(true, |origin| !self.is_known(origin, host)));
        is_foreign.then_some("the page that asks is of another origin; add it to origins to let it")
    }

    fn is_ours(&self, host: &str, ends: Ends) -> bool {
        let name = without_port(host).to_ascii_lowercase();
        if name == "localhost" || self.hosts.contains(&name) {
            return true;
        }
        let ip = name.trim_matches(['[', ']']).parse::<IpAddr>();
        ip.is_ok_and(|ip| ip.is_loopback() || ip == ends.local.ip().to_canonical())
    }

    /// Returns true if a page is the gateway's own, or one that is configured.
    fn is_known(&self, origin: &str, host: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        let own = ["http://", "https://"].iter().find_map(|scheme| origin.strip_prefix(scheme));
        own.is_some_and(|own| own == host.to_ascii_lowercase()) || self.origins.contains(&origin)
    }

    /// Returns true if the page may be shown to whoever asks.
    pub(crate) fn shows_page(&self, headers: &HeaderMap, ends: Ends) -> bool {
        may(self.page, headers, ends)
    }

    /// Returns true if another site's page leads to the gateway's own: a browser says where it comes from.
    pub(crate) fn is_from_elsewhere(headers: &HeaderMap) -> bool {
        let site = headers.get("sec-fetch-site").map(hyper::header::HeaderValue::as_bytes);
        site.is_some_and(|site| !matches!(site, b"same-origin" | b"none"))
    }

    /// Returns true if the metrics may be.
    pub(crate) fn shows_metrics(&self, headers: &HeaderMap, ends: Ends) -> bool {
        may(self.metrics, headers, ends)
    }
}

fn may(access: Access, headers: &HeaderMap, ends: Ends) -> bool {
    match access {
        Access::Off => false,
        Access::Open => true,
        Access::Loopback => {
            let is_forwarded = FORWARDED.iter().any(|name| headers.contains_key(*name));
            ends.peer.ip().to_canonical().is_loopback() && !is_forwarded
        }
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse_for_tests;

    const ENDS: Ends = Ends {
        peer: SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 9)), 5),
        local: SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), 80),
    };

    fn is_refused(headers: &[(&'static str, &str)], uri: &str) -> bool {
        let guard = Guard::new(&parse_for_tests("hosts = ['Gate']\norigins = ['http://app']"));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        guard.unwrap().refuses(&map, &uri.parse().unwrap(), Version::HTTP_11, ENDS).is_some()
    }

    #[test]
    fn what_is_no_name_is_no_host() {
        for host in ["", "http://gate", "gate:8790", "a b", "gate/", "*"] {
            let config = parse_for_tests(&format!("hosts = ['{host}']"));
            let error = Guard::new(&config).unwrap_err().to_string();
            let rule = "must be a name alone, as in gateway.local";
            assert_eq!(error, format!("hosts: `{host}`: {rule}"));
        }
    }

    #[test]
    fn what_is_no_scheme_and_host_is_no_origin() {
        for origin in ["app", "http://app/", "app/"] {
            let config = parse_for_tests(&format!("origins = ['{origin}']"));
            let error = Guard::new(&config).unwrap_err().to_string();
            let rule = "must be scheme and host, as in http://localhost:3000";
            assert_eq!(error, format!("origins: `{origin}`: {rule}"));
        }
    }

    #[test]
    fn foreign_hosts_are_refused() {
        for host in
            ["localhost", "127.0.0.1:80", "[::1]:8790", "[::1]", "gate:1", "gate:", "10.0.0.1"]
        {
            assert!(!is_refused(&[("host", host)], "/"), "{host}");
        }
        for host in
            ["evil.example", "10.0.0.2", "localhost.evil.example", "", "gate.evil", "gate:x"]
        {
            assert!(is_refused(&[("host", host)], "/"), "{host}");
        }
        assert!(is_refused(&[], "/"));
        assert!(is_refused(&[("host", "localhost"), ("host", "evil.example")], "/"));
        assert!(is_refused(&[("host", "localhost")], "http://evil.example/"));
    }

    #[test]
    fn foreign_pages_are_refused() {
        let host = ("host", "localhost:8790");
        for origin in ["http://localhost:8790", "http://app", "HTTP://APP"] {
            assert!(!is_refused(&[host, ("origin", origin)], "/"), "{origin}");
        }
        for origin in ["null", "http://evil", "http://localhost:3000", "http://app:1"] {
            assert!(is_refused(&[host, ("origin", origin)], "/"), "{origin}");
        }
    }

    #[test]
    fn an_origin_that_begins_like_a_known_one_is_foreign() {
        let host = ("host", "localhost:8790");
        for origin in [
            "http://localhost:87901",
            "http://localhost:8790.evil.example",
            "http://localhost",
            "http://app.evil.example",
            "http://ap",
            "ftp://localhost:8790",
        ] {
            assert!(is_refused(&[host, ("origin", origin)], "/"), "{origin}");
        }
    }

    #[test]
    fn the_page_is_for_this_machine_unless_told_otherwise() {
        let ends = |peer: [u8; 4]| Ends { peer: (peer, 5).into(), ..ENDS };
        let none = HeaderMap::new();
        let mut forwarded = HeaderMap::new();
        forwarded.insert("x-forwarded-for", "1.2.3.4".parse().unwrap());
        assert!(may(Access::Loopback, &none, ends([127, 0, 0, 1])));
        assert!(!may(Access::Loopback, &none, ends([10, 0, 0, 9])));
        assert!(!may(Access::Loopback, &forwarded, ends([127, 0, 0, 1])));
        assert!(may(Access::Open, &none, ends([10, 0, 0, 9])));
        assert!(!may(Access::Off, &none, ends([127, 0, 0, 1])));
    }

    #[test]
    fn a_browser_says_whether_another_site_leads_here() {
        let is_from_elsewhere = |site: &str| {
            let headers = HeaderMap::from_iter([(
                hyper::header::HeaderName::from_static("sec-fetch-site"),
                site.parse().unwrap(),
            )]);
            Guard::is_from_elsewhere(&headers)
        };
        assert!(!is_from_elsewhere("same-origin") && !is_from_elsewhere("none"));
        assert!(is_from_elsewhere("cross-site") && is_from_elsewhere("same-site"));
        assert!(!Guard::is_from_elsewhere(&HeaderMap::new()), "no browser");
    }

    #[test]
    fn a_forwarded_request_is_not_of_this_machine() {
        let local = Ends { peer: ([127, 0, 0, 1], 5).into(), ..ENDS };
        for name in ["forwarded", "x-forwarded-for", "x-real-ip", "X-Real-IP"] {
            let name = hyper::header::HeaderName::from_bytes(name.as_bytes()).unwrap();
            let headers = HeaderMap::from_iter([(name.clone(), "1.2.3.4".parse().unwrap())]);
            assert!(!may(Access::Loopback, &headers, local), "{name}");
            assert!(may(Access::Open, &headers, local), "{name}");
        }
    }

    #[test]
    fn a_loopback_address_may_be_written_in_either_family() {
        let may = |peer: &str| {
            let ends = Ends { peer: SocketAddr::new(peer.parse().unwrap(), 5), ..ENDS };
            may(Access::Loopback, &HeaderMap::new(), ends)
        };
        assert!(may("::1") && may("127.9.9.9") && may("::ffff:127.0.0.1"));
        assert!(!may("::2") && !may("::ffff:10.0.0.9"));
    }

    #[test]
    fn page_and_metrics_are_opened_each_by_itself() {
        let shows = |config: &str| {
            let guard = Guard::new(&parse_for_tests(config)).unwrap();
            let none = HeaderMap::new();
            (guard.shows_page(&none, ENDS), guard.shows_metrics(&none, ENDS))
        };
        assert_eq!(shows(""), (false, false), "the client is on another machine");
        assert_eq!(shows("page = 'open'"), (true, false));
        assert_eq!(shows("metrics = 'open'"), (false, true));
    }
}
