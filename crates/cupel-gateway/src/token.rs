//! The token of the page: whoever started the gateway has it, and nobody else.
//!
//! Behind a proxy that names no client every request looks local, and on a shared machine others can reach
//! a loopback port: an address proves nothing about who asks.

use hyper::header::{self, HeaderMap};

use crate::hash;

/// The token of the page, if it has one.
#[derive(Debug, Clone)]
pub(crate) struct PageToken(Option<String>);

impl PageToken {
    /// The configured token; `off` is none. A random one if nothing is configured.
    pub(crate) fn new(configured: Option<&str>, random: &str) -> Self {
        match configured {
            Some("off") => Self(None),
            Some(token) => Self(Some(token.to_owned())),
            None => Self(Some(random.to_owned())),
        }
    }

    /// The page's path, with the token in it.
    pub(crate) fn path(&self) -> String {
        match &self.0 {
            Some(token) => format!("/cupel?token={token}"),
            None => "/cupel".to_owned(),
        }
    }

    /// Returns true if a request has the token, in its cookie or as a bearer's.
    pub(crate) fn is_in(&self, headers: &HeaderMap, port: u16) -> bool {
        let Some(token) = &self.0 else { return true };
        let name = cookie_name(port);
        let text = |name: header::HeaderName| {
            headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok())
        };
        let cookies = text(header::COOKIE)
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter_map(|(key, value)| (key == name).then_some(value));
        let bearers = text(header::AUTHORIZATION).filter_map(|it| it.strip_prefix("Bearer "));
        cookies.chain(bearers).any(|given| is_same(given, token))
    }

    /// The cookie for a request that has the token in its query.
    pub(crate) fn cookie(&self, query: Option<&str>, port: u16) -> Option<String> {
        let token = self.0.as_ref()?;
        let given = query?.split('&').find_map(|pair| pair.strip_prefix("token="))?;
        let name = cookie_name(port);
        is_same(given, token)
            .then(|| format!("{name}={token}; Path=/cupel; HttpOnly; SameSite=Strict"))
    }
}

/// Cookies do not tell ports apart, and a machine may have more than one gateway.
fn cookie_name(port: u16) -> String {
    format!("cupel_page_{port}")
}

/// Compares hashes, so that the time it takes tells nothing about the token.
fn is_same(given: &str, token: &str) -> bool {
    hash::sha256(given.as_bytes()) == hash::sha256(token.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(token: &PageToken, name: header::HeaderName, value: &str) -> bool {
        token.is_in(&HeaderMap::from_iter([(name, value.parse().unwrap())]), 80)
    }

    #[test]
    fn a_token_comes_once_in_the_query_and_then_in_a_cookie() {
        let token = PageToken::new(None, "abc");
        assert_eq!(token.path(), "/cupel?token=abc");
        let cookie = token.cookie(Some("x=1&token=abc"), 80).unwrap();
        assert_eq!(cookie, "cupel_page_80=abc; Path=/cupel; HttpOnly; SameSite=Strict");
        for query in [None, Some(""), Some("token="), Some("token=abcd"), Some("nottoken=abc")] {
            assert_eq!(token.cookie(query, 80), None, "{query:?}");
        }
        assert!(is_in(&token, header::COOKIE, "a=b; cupel_page_80=abc"));
        assert!(is_in(&token, header::AUTHORIZATION, "Bearer abc"));
        for cookie in ["cupel_page_81=abc", "cupel_page_80=ab", "xcupel_page_80=abc", "abc"] {
            assert!(!is_in(&token, header::COOKIE, cookie), "{cookie}");
        }
        assert!(!is_in(&token, header::AUTHORIZATION, "Bearer ab"));
        assert!(!token.is_in(&HeaderMap::new(), 80));
    }

    #[test]
    fn a_token_may_be_configured_or_off() {
        assert_eq!(PageToken::new(Some("mine"), "abc").path(), "/cupel?token=mine");
        let off = PageToken::new(Some("off"), "abc");
        assert_eq!(off.path(), "/cupel");
        assert!(off.is_in(&HeaderMap::new(), 80));
        assert_eq!(off.cookie(Some("token=off"), 80), None);
    }
}
