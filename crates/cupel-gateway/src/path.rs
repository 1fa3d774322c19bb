//! Meaning of a path, however it is written.

use std::fmt;

use crate::api::Api;

/// Route of a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The gateway's own: what follows `/cupel`, without slashes at its ends.
    Own(String),
    /// A request to a model, with the model if the path names it.
    Fitted(Api, Option<String>),
    /// Anything else: passed on unread.
    Passed,
}

/// A path, read once: what is matched is never what somebody could write in two ways.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// Without percent signs.
    pub(crate) decoded: String,
    /// Route of the path.
    pub(crate) route: Route,
    /// True if it is passed on unread and some server may take it for a place where requests are fitted:
    /// by another method, or by a path that such a server would tidy up.
    pub(crate) is_lookalike: bool,
}

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// `.`, `..` or nothing between two slashes.
    Segment,
    /// A slash, a backslash or a control character in disguise, or something that is no text.
    Encoding,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Segment => {
                "the path has an empty segment, `.` or `..`; does the base URL end with a slash?"
            }
            Self::Encoding => "the path hides slashes or control characters, or is not UTF-8",
        })
    }
}

impl Path {
    /// Reads a path as it came. Only what is asked by `POST` is fitted.
    pub(crate) fn read(raw: &str, is_post: bool) -> Result<Self, Refused> {
        let decoded = decode(raw)?;
        let inner = decoded.trim_matches('/');
        let mut segments = inner.split('/');
        let is_odd = |segment: &str| {
            segment.split(SLASH).any(|part| matches!(part, "." | "..") || part.is_empty())
        };
        if !inner.is_empty() && (segments.clone().any(is_odd) || decoded.starts_with("//")) {
            return Err(Refused::Segment);
        }
        let first = segments.next().unwrap_or_default();
        let route = if inner == "healthz" && !is_post {
            Route::Own(inner.to_owned())
        } else if first.eq_ignore_ascii_case("cupel") {
            Route::Own(segments.collect::<Vec<_>>().join("/"))
        } else {
            match Api::of_path(&decoded).filter(|_| is_post) {
                Some((api, model)) => Route::Fitted(api, model.map(|it| it.replace(SLASH, "/"))),
                None => Route::Passed,
            }
        };
        let is_lookalike = route == Route::Passed && Api::of_path(&tidy(&decoded)).is_some();
        Ok(Self { decoded, route, is_lookalike })
    }

    /// Returns true if it is below a folder, as `/v1/messages/batches` is below `/v1/messages`.
    pub(crate) fn is_below(&self, folder: &str) -> bool {
        let rest = self.decoded.strip_prefix(folder.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
    }
}

/// A slash in a name of Amazon's, as in `/model/arn:aws:bedrock:…:inference-profile%2Fname/converse`. It stays
/// as it is: no other name has reason to hide one.
const SLASH: &str = "%2F";
const AMAZON_NAME: &[u8] = b"arn:";

/// A path as lenient servers have it: without parameters of its segments, nor blanks and dots at their ends.
fn tidy(path: &str) -> String {
    let segment = |segment: &str| {
        let name = segment.split(';').next().unwrap_or_default();
        name.trim_matches(|letter: char| letter.is_whitespace() || letter == '.').to_owned()
    };
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

fn decode(raw: &str) -> Result<String, Refused> {
    let bytes = raw.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let digits = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
            let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let value = value.ok_or(Refused::Encoding)?;
            if value == b'/' {
                let segment = decoded.rsplit(|byte| *byte == b'/').next();
                if !segment.is_some_and(|segment| segment.starts_with(AMAZON_NAME)) {
                    return Err(Refused::Encoding);
                }
                decoded.extend_from_slice(SLASH.as_bytes());
                at += 3;
                continue;
            }
            if matches!(value, b'\\' | b'%') {
                return Err(Refused::Encoding);
            }
            decoded.push(value);
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    let decoded = String::from_utf8(decoded).map_err(|_| Refused::Encoding)?;
    if decoded.contains(|letter: char| letter.is_control() || letter == '\\') {
        return Err(Refused::Encoding);
    }
    Ok(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(raw: &str) -> Route {
        Path::read(raw, true).unwrap().route
    }

    #[test]
    fn the_gateways_own_paths_are_its_own_however_written() {
        for raw in ["/cupel", "/cupel/", "/%63upel/", "/CUPEL"] {
            assert_eq!(route(raw), Route::Own(String::new()), "{raw}");
        }
        assert_eq!(route("/cupel/api/requests/"), Route::Own("api/requests".to_owned()));
        assert_eq!(route("/cupelish"), Route::Passed);
        let health = Path::read("/healthz", false).unwrap().route;
        assert_eq!(health, Route::Own("healthz".to_owned()));
    }

    #[test]
    fn what_is_written_in_two_ways_is_matched_in_one() {
        let encoded = route("/v1/%6dessages");
        assert_eq!(encoded, Route::Fitted(Api::Anthropic, None));
        assert_eq!(Path::read("/v1/messages", false).unwrap().route, Route::Passed);
    }

    #[test]
    fn what_servers_take_for_a_place_of_requests_is_known_as_such() {
        for raw in [
            "/V1/Chat/Completions",
            "/v1/chat/completions///",
            "/v1/Messages",
            "/v1beta/models/M%3AgenerateContent",
            "/v1beta/Models/M:GenerateContent",
        ] {
            assert!(matches!(route(raw), Route::Fitted(..)), "{raw}");
        }
        let model = Route::Fitted(Api::Gemini, Some("Gemini-X".to_owned()));
        assert_eq!(route("/v1beta/MODELS/Gemini-X:generatecontent"), model);
        let is_lookalike = |raw, is_post| Path::read(raw, is_post).unwrap().is_lookalike;
        for raw in [
            "/v1/chat/completions;x=1",
            "/v1/chat;a/completions",
            "/v1/messages%20",
            "/v1/messages.",
        ] {
            assert_eq!(route(raw), Route::Passed, "{raw}");
            assert!(is_lookalike(raw, true), "{raw}");
        }
        assert!(is_lookalike("/v1/messages", false), "another method");
        assert!(!is_lookalike("/v1/messages", true), "it is one");
        assert!(!is_lookalike("/v1/messages/count_tokens", true));
    }

    #[test]
    fn names_of_amazon_may_have_slashes() {
        let arn = "arn:aws:bedrock:r:1:inference-profile/us.anthropic.claude-x";
        for raw in [
            "/model/arn%3Aaws%3Abedrock%3Ar%3A1%3Ainference-profile%2Fus.anthropic.claude-x/converse",
            "/model/arn:aws:bedrock:r:1:inference-profile%2fus.anthropic.claude-x/converse-stream",
        ] {
            assert_eq!(route(raw), Route::Fitted(Api::Converse, Some(arn.to_owned())), "{raw}");
        }
        for raw in ["/model/arn:x%2F..%2Fy/invoke", "/model/arn:x%2F/invoke", "/arn:x%2F%2Fy"] {
            assert_eq!(Path::read(raw, true), Err(Refused::Segment), "{raw}");
        }
        for raw in ["/model/x%2Farn:y/invoke", "/arn:x/a%2Fb", "/model/arn:x%5cy/invoke"] {
            assert_eq!(Path::read(raw, true), Err(Refused::Encoding), "{raw}");
        }
    }

    #[test]
    fn ways_around_a_folder_are_refused() {
        for raw in ["/v1/../x", "/v1/%2e%2e/x", "/v1/./x", "//v1/messages", "/v1//messages"] {
            assert_eq!(Path::read(raw, true), Err(Refused::Segment), "{raw}");
        }
        for raw in ["/v1%2fmessages", "/v1%5cx", "/v1\\x", "/%00", "/%ff", "/%2", "/%252e"] {
            assert_eq!(Path::read(raw, true), Err(Refused::Encoding), "{raw}");
        }
    }

    #[test]
    fn a_folder_ends_at_a_slash() {
        let below = |raw: &str, folder| Path::read(raw, true).unwrap().is_below(folder);
        assert!(below("/v1/messages/batches", "/v1/messages"));
        assert!(below("/v1/%6dessages", "/v1/messages/"));
        assert!(!below("/v1/messagesx", "/v1/messages"));
        assert!(below("/anything", "/"));
    }

    #[test]
    fn a_refusal_says_what_is_wrong_with_the_path() {
        assert!(Refused::Segment.to_string().contains("does the base URL end with a slash?"));
        assert!(Refused::Encoding.to_string().contains("hides slashes"));
    }
}
