//! Fields of a request to a model: read once, before anything is decided.

use bytes::Bytes;
use cupel_chat::{Pin, Request, Rule};
use cupel_engine::{Conversation, ConversationKey, ConversationScope};
use cupel_tokens::Model;
use hyper::Uri;
use hyper::header::{HeaderMap, HeaderValue};
use serde_json::Value;

use crate::api::Api;
use crate::caller::Caller;
use crate::envelope::Envelope;
use crate::hash;
use crate::limit::Sender;
use crate::unfit::Unfit;

/// A request to a model, read.
pub(crate) struct Asked {
    /// API that it follows.
    pub(crate) api: Api,
    /// The model that body or path name.
    pub(crate) model: Option<String>,
    /// It itself: whoever needs more of it asks this, and nobody parses the body again.
    pub(crate) request: Request,
    /// The body around it, if it is not all of that.
    pub(crate) envelope: Option<Envelope>,
    /// Its own limit for the answer.
    pub(crate) output: Option<i64>,
    /// The window that it is served with, as it says itself or as the server does.
    pub(crate) served: Option<i64>,
    /// Hashes of the keys that it came with.
    pub(crate) keys: Vec<String>,
    /// Beginning of the user's last words.
    pub(crate) title: Option<String>,
    /// True if its newest step has so many blocks that its last mark for the cache may find nothing.
    pub(crate) is_step_long: bool,
    /// The standing rules that its headers state.
    pub(crate) rules: Vec<Rule>,
    /// Messages that its headers say to keep.
    pub(crate) pins: Vec<Pin>,
    /// Part of an agent that sends it.
    pub(crate) caller: Caller,
    /// The conversation that it belongs to.
    pub(crate) conversation: Conversation,
}

/// Letters of a title.
const LONGEST_TITLE: usize = 100;

/// Headers in which keys come.
const KEY_HEADERS: [&str; 7] = [
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "x-litellm-api-key",
    "x-portkey-api-key",
    "cookie",
];

/// Begins an `Authorization` that AWS signs: the signature is another one each time, the access key is not.
const SIGNED: &str = "AWS4-";

/// The access key of a signed request, as in `AWS4-HMAC-SHA256 Credential=AKIA…/20260101/…, Signature=…`.
fn access_key(value: &str) -> Option<&str> {
    let credential = value.split("Credential=").nth(1).filter(|_| value.starts_with(SIGNED))?;
    credential.split(['/', ',', ' ']).next().filter(|key| !key.is_empty())
}

/// The header that states a standing rule; there may be several.
const RULES_HEADER: &str = "x-cupel-rules";

/// The rules that headers state, each of them one.
fn rules(headers: &HeaderMap) -> Result<Vec<Rule>, Unfit> {
    let rule = |value: &HeaderValue| {
        let text = std::str::from_utf8(value.as_bytes());
        let problem = format!("{RULES_HEADER}: a rule must be UTF-8, and not empty");
        text.ok().and_then(Rule::new).ok_or_else(|| Unfit::new("invalid-rule", problem))
    };
    headers.get_all(RULES_HEADER).iter().map(rule).collect()
}

/// The header that names a message to keep, as `--pin` does; there may be several.
const PIN_HEADER: &str = "x-cupel-pin";

/// The messages that headers say to keep, of so many. An index that the request does not reach yet names none: the same
/// headers come with every request of a client.
fn pins(headers: &HeaderMap, messages: usize) -> Result<Vec<Pin>, Unfit> {
    let pin = |value: &HeaderValue| {
        let text = std::str::from_utf8(value.as_bytes()).unwrap_or_default().trim();
        let pin = text.parse::<Pin>();
        pin.map_err(|error| Unfit::new("invalid-pin", format!("{PIN_HEADER}: {error}")))
    };
    let all: Vec<Pin> = headers.get_all(PIN_HEADER).iter().map(pin).collect::<Result<_, _>>()?;
    let is_there = |pin: &Pin| !matches!(pin, Pin::Index(at) if *at >= messages);
    Ok(all.into_iter().filter(is_there).collect())
}

/// Hashes of all keys of a request, wherever they stand; `more` are headers that are configured.
pub(crate) fn keys(headers: &HeaderMap, uri: &Uri, more: &[String]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for name in KEY_HEADERS.into_iter().chain(more.iter().map(String::as_str)) {
        for value in headers.get_all(name) {
            let value = String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
            if let Some(key) = access_key(&value) {
                keys.push(key.to_owned());
                continue;
            }
            // Whatever stands before it, as `Bearer` does.
            keys.extend(value.split_whitespace().map(ToOwned::to_owned));
            keys.push(value);
        }
    }
    let query = uri.query().unwrap_or_default().split('&');
    let pairs = query.filter_map(|pair| pair.split_once('=')).map(|(a, b)| (plain(a), plain(b)));
    keys.extend(pairs.filter(|(name, _)| name == "key").map(|(_, value)| value));
    keys.retain(|key| !key.is_empty());
    let mut keys: Vec<String> = keys.iter().map(|key| hash::sha256(key.as_bytes())).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// A part of a query without percent signs: a key that is written in another way is the same key.
fn plain(text: &str) -> String {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = match (byte, value) {
            (b'%', Some(value)) => {
                plain.push(value);
                &after[2..]
            }
            (b'+', _) => {
                plain.push(b' ');
                after
            }
            _ => {
                plain.push(*byte);
                after
            }
        };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

impl Asked {
    /// Reads the body of a request. `of_path` is the model that the path names.
    pub(crate) fn read(
        api: Api,
        of_path: Option<&str>,
        headers: &HeaderMap,
        keys: Vec<String>,
        conversation_header: &str,
        body: &Bytes,
    ) -> Result<Self, Unfit> {
        let text = std::str::from_utf8(body)
            .map_err(|_| Unfit::new("malformed-request", "the body is not UTF-8"))?;
        let request = Request::parse(text, Some(api.format()))
            .map_err(|error| Unfit::new("malformed-request", error.to_string()))?;
        let rules = rules(headers)?;
        let pins = pins(headers, request.message_count())?;
        let model = of_path.or(request.model()).map(ToOwned::to_owned);
        let scope: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
        let scope = ConversationKey::of(&scope).to_string();
        let caller = Caller::of(headers, &scope, head_of(&request));
        let conversation = Conversation::of(
            &request,
            ConversationScope {
                customer: &scope,
                api: api.name(),
                model: model.as_deref(),
                name: headers.get(conversation_header).map(HeaderValue::as_bytes),
            },
        );
        Ok(Self {
            api,
            output: request.output_limit(),
            title: request.query().map(|words| title_of(&words)),
            is_step_long: api == Api::Anthropic && is_step_long(&request),
            served: own_window(&request),
            model,
            request,
            envelope: None,
            keys,
            rules,
            pins,
            caller,
            conversation,
        })
    }

    /// Returns true if its provider refuses what is too long, as those of these models do, rather than drop
    /// something of it.
    pub(crate) fn refuses_too_long(&self) -> bool {
        let is_known = self.model.as_deref().is_some_and(|name| Model::find(name).is_ok());
        let refuses =
            matches!(self.api, Api::Anthropic | Api::Gemini | Api::CodeAssist | Api::Converse);
        is_known && refuses
    }

    /// Fields that limits may depend on.
    pub(crate) fn sender(&self) -> Sender<'_> {
        Sender {
            model: self.model.as_deref(),
            keys: &self.keys,
            output: self.output,
            served: self.served,
        }
    }
}

/// Blocks of a step from which on a mark behind it may not find the one before it. Anthropic looks back 20
/// blocks; a reminder of the client's or two may stand between.
const LONG_STEP: usize = 18;

/// Returns true if the last reply of the model and what came after it have many blocks.
fn is_step_long(request: &Request) -> bool {
    request.newest_step_blocks() >= LONG_STEP
}

/// The fingerprint of system prompt and tools, if there are tools.
fn head_of(request: &Request) -> Option<u64> {
    let text = request.text();
    let has_tools = text.contains("\"tools\"") || text.contains("\"functions\"");
    has_tools.then(|| request.head_fingerprint())
}

/// Beginning of the user's words. Text that an agent puts before them in tags of its own, as `<system-reminder>`, is
/// not the user's, unless there is nothing else.
fn title_of(words: &str) -> String {
    let mut own = words.trim_start();
    while let Some((tag, _)) = own.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if tag.is_empty() || !tag.chars().all(is_name) {
            break;
        }
        let Some((_, after)) = own.split_once(&format!("</{tag}>")) else { break };
        own = after.trim_start();
    }
    let own = if own.is_empty() { words } else { own };
    own.chars().take(LONGEST_TITLE).collect()
}

/// The window that a request to Ollama asks for: its model is loaded with it.
fn own_window(request: &Request) -> Option<i64> {
    if !request.text().contains("\"num_ctx\"") {
        return None;
    }
    let options: Value = serde_json::from_str(request.field("options")?).ok()?;
    options["num_ctx"].as_i64().filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(api: Api, body: &str) -> Asked {
        let body = Bytes::copy_from_slice(body.as_bytes());
        Asked::read(api, None, &HeaderMap::new(), Vec::new(), "x", &body).ok().unwrap()
    }

    fn read(headers: &[(&'static str, &str)], body: &str) -> Result<Asked, Unfit> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let keys = keys(&map, &Uri::from_static("/v1/chat/completions"), &[]);
        let body = Bytes::copy_from_slice(body.as_bytes());
        Asked::read(Api::OpenAiChat, None, &map, keys, "x-cupel-conversation", &body)
    }

    const BODY: &str =
        r#"{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}"#;

    #[test]
    fn a_conversation_is_that_of_its_customer_and_of_the_name_in_the_header() {
        let plain = read(&[], BODY).unwrap().conversation;
        let other = read(&[("authorization", "Bearer x")], BODY).unwrap().conversation;
        assert_ne!(other.key(), plain.key(), "another key is another customer");
        let named = read(&[("x-cupel-conversation", "n")], BODY).unwrap().conversation;
        let body = BODY.replacen('{', "{\"conversation\":\"n\",", 1);
        assert_eq!(read(&[], &body).unwrap().conversation.key(), named.key());
        assert_ne!(named.key(), plain.key());
    }

    #[test]
    fn a_step_is_long_where_marks_look_back_and_its_blocks_reach_the_bound() {
        let body = |blocks: usize| {
            let block = r#"{"type":"text","text":"x"}"#;
            let blocks = vec![block; blocks - 1].join(",");
            format!(
                r#"{{"model":"m","max_tokens":1,"messages":[{{"role":"user","content":"a"}},
                    {{"role":"assistant","content":"b"}},{{"role":"user","content":[{blocks}]}}]}}"#
            )
        };
        assert!(read_as(Api::Anthropic, &body(LONG_STEP)).is_step_long);
        assert!(!read_as(Api::Anthropic, &body(LONG_STEP - 1)).is_step_long);
        assert!(!read_as(Api::OpenAiChat, &body(LONG_STEP)).is_step_long);
    }

    #[test]
    fn a_provider_is_said_to_refuse_only_what_is_known_of_it() {
        let refuses = |api, model: &str| {
            let body = format!(
                r#"{{"model":"{model}","max_tokens":1,"messages":[{{"role":"user","content":"a"}}]}}"#
            );
            read_as(api, &body).refuses_too_long()
        };
        assert!(refuses(Api::Anthropic, "claude-sonnet-4-5"));
        assert!(!refuses(Api::Anthropic, "nobody-knows-this"));
        assert!(!refuses(Api::OpenAiChat, "gpt-4o"));
    }

    #[test]
    fn a_title_is_what_the_user_said() {
        let said = "<system-reminder>\nas of now\n</system-reminder>\n<env>x</env> Fix <b>it</b>";
        assert_eq!(title_of(said), "Fix <b>it</b>");
        assert_eq!(title_of("<a>all there is</a>"), "<a>all there is</a>");
        for plain in ["< 5 > 3", "<unclosed> words", "<>x</> y", "<a b>x</a b> y", "words"] {
            assert_eq!(title_of(plain), plain);
        }
        assert_eq!(title_of(&"x".repeat(500)).len(), LONGEST_TITLE);
    }

    #[test]
    fn a_signed_request_is_known_by_its_access_key() {
        let signed = |key: &str, signature: &str| {
            let value = format!(
                "AWS4-HMAC-SHA256 Credential={key}/20260101/r/bedrock/aws4_request, Signature={signature}"
            );
            let headers =
                HeaderMap::from_iter([(hyper::header::AUTHORIZATION, value.parse().unwrap())]);
            keys(&headers, &Uri::from_static("/"), &[])
        };
        assert_eq!(signed("AKIA1", "0a"), signed("AKIA1", "0b"));
        assert_ne!(signed("AKIA1", "0a"), signed("AKIA2", "0a"));
        assert_eq!(access_key("Bearer Credential=x"), None);
    }

    #[test]
    fn every_header_of_a_key_tells_tenants_apart() {
        let more = ["X-Team-Key".to_owned()];
        for name in KEY_HEADERS.into_iter().chain(["x-team-key"]) {
            let name = hyper::header::HeaderName::from_static(name);
            let of = |value: &str| {
                let headers = HeaderMap::from_iter([(name.clone(), value.parse().unwrap())]);
                keys(&headers, &Uri::from_static("/"), &more)
            };
            assert!(!of("one").is_empty() && of("one") != of("two"), "{name}");
        }
    }

    #[test]
    fn keys_are_found_wherever_they_stand() {
        let mut headers = HeaderMap::new();
        headers.append("authorization", "bearer  one ".parse().unwrap());
        headers.append("x-api-key", "two".parse().unwrap());
        headers.append("x-api-key", "three".parse().unwrap());
        let uri = Uri::from_static("/x?a=b&key=four&%6bey=fi%76e%zz&key=s+x");
        let found = keys(&headers, &uri, &[]);
        for key in ["one", "two", "three", "four", "five%zz", "s x"] {
            assert!(found.contains(&hash::sha256(key.as_bytes())), "{key}");
        }
    }

    #[test]
    fn rules_are_stated_by_headers_one_in_each() {
        let asked =
            read(&[("x-cupel-rules", "never, ever: tabs"), ("x-cupel-rules", " kurz ")], BODY);
        let rules = asked.unwrap().rules;
        assert_eq!(
            rules.iter().map(Rule::as_str).collect::<Vec<_>>(),
            ["never, ever: tabs", "kurz"]
        );
        assert_eq!(read(&[("x-cupel-rules", " ")], BODY).err().unwrap().code, "invalid-rule");
    }

    #[test]
    fn a_request_may_say_which_window_its_model_is_loaded_with() {
        let of = |options: &str| {
            read(&[], &BODY.replacen('{', &format!("{{\"options\":{options},"), 1)).unwrap().served
        };
        assert_eq!(of(r#"{"num_ctx":8192}"#), Some(8_192));
        for none in [r#"{"num_ctx":0}"#, r#"{"num_ctx":"x"}"#, "{}", "5"] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn messages_to_keep_are_named_by_headers_as_by_the_flag() {
        let pins = |specs: &[&str]| {
            let headers: Vec<_> = specs.iter().map(|spec| ("x-cupel-pin", *spec)).collect();
            read(&headers, BODY).map(|asked| asked.pins)
        };
        assert_eq!(pins(&["1", " words:go on "]).unwrap().len(), 2);
        assert_eq!(pins(&["1", "2"]).unwrap(), [Pin::Index(1)], "there are two messages");
        assert_eq!(pins(&["nonsense"]).err().unwrap().code, "invalid-pin");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        assert_eq!(read(&[], "{").err().unwrap().code, "malformed-request");
    }
}
