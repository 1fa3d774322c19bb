//! Requests that fit for sure: told by their bytes, before anything is counted.

use cupel_engine::Limits;

use crate::api::Api;

/// Tokens that stand around messages and tools, whoever the provider is.
const FRAME: i64 = 2_000;

/// Tokens that a byte is at most. Tokenizers have a byte for each token at least; as much again is
/// for how far estimates may be off.
const OF_A_BYTE: i64 = 2;

/// Returns true if a request fits within limits, however its tokens are counted. `false` says nothing.
pub(crate) fn surely_fits(text: &str, limits: &Limits) -> bool {
    let Some(max) = limits.max else { return false };
    let room = max.saturating_sub(limits.reserve.unwrap_or(0)).max(0);
    let margin = limits.margin_percent.unwrap_or(0.0).clamp(0.0, 100.0);
    let room = (room as f64 * (1.0 - margin / 100.0)) as i64;
    let bytes = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let most = bytes.saturating_mul(OF_A_BYTE).saturating_add(FRAME);
    most <= room && !has_attachments(text)
}

/// Returns true if something may be in a request that costs more than its bytes: a picture or a file. Fields of
/// tools by such names are none, nor are words in a text. Names of every API count: servers that speak
/// one take parts of others.
fn has_attachments(text: &str) -> bool {
    let all = Api::ALL.map(Api::attachments);
    let mut before = "";
    text.split('"').any(|piece| {
        let is_value = std::mem::replace(&mut before, piece).trim() == ":";
        all.iter().any(|names| {
            names.anywhere.contains(&piece) || is_value && names.values.contains(&piece)
        })
    })
}

#[cfg(test)]
mod tests {
    use cupel_engine::{Engine, Options};

    use super::*;

    #[test]
    fn what_fits_for_sure_is_told_by_limits_and_bytes() {
        let text = "x".repeat(1_000);
        assert!(surely_fits(&text, &Limits::of(4_000)));
        assert!(!surely_fits(&text, &Limits::of(3_999)));
        assert!(!surely_fits(&text, &Limits::of(4_000).with_reserve(1)));
        assert!(!surely_fits(&text, &Limits::of(4_000).with_margin_percent(1.0)));
        assert!(surely_fits(&text, &Limits::of(8_000).with_margin_percent(50.0)));
        assert!(!surely_fits(&text, &Limits::of(7_999).with_margin_percent(50.0)));
        assert!(!surely_fits("", &Limits::default()), "nothing is known");
    }

    #[test]
    fn what_is_attached_may_cost_anything() {
        for part in [
            r#"{"type" : "image_url","image_url":{"url":"https://x/y.png"}}"#,
            r#"{"type": "file", "file": {"file_id": "f"}}"#,
            r#"{"type":"document","source":{"type":"url","url":"https://x"}}"#,
            r#"{"inlineData":{"mimeType":"audio/mp3","data":""}}"#,
            r#"{"type":"input_file","file_url":"https://x"}"#,
        ] {
            assert!(has_attachments(part), "{part}");
        }
        for part in [
            r#"{"type":"text","text":"{\"type\":\"image\"} and a \"file\""}"#,
            r#"{"properties":{"file":{"type":"string"}},"required":["file","image"]}"#,
        ] {
            assert!(!has_attachments(part), "{part}");
        }
    }

    #[test]
    fn every_api_names_its_attachments() {
        for api in Api::ALL {
            let names = api.attachments();
            assert!(!names.anywhere.is_empty(), "{api:?}");
            for name in names.anywhere {
                assert!(has_attachments(&format!(r#"{{"{name}":1}}"#)), "{name}");
            }
            for name in names.values {
                assert!(has_attachments(&format!(r#"{{"type": "{name}"}}"#)), "{name}");
                assert!(!has_attachments(&format!(r#"["{name}"]"#)), "{name}");
            }
        }
    }

    /// Whatever is sure here is so for the engine, with texts that cost as much as any.
    #[test]
    fn what_fits_for_sure_is_never_cut() {
        let texts = ["\u{1F9D1}\u{200D}\u{1F680}", "\u{FDFA}", "!?", "\u{0F3A}", "a ", "\n", "7"];
        for model in ["gpt-4o", "claude-opus-5", "gemini-2.5-pro", "gpt-3.5-turbo"] {
            for (text, count) in texts.iter().flat_map(|text| [(text, 1), (text, 40)]) {
                let one = format!(r#"{{"role":"user","content":"{}"}}"#, text.repeat(count))
                    .replace('\n', "\\n");
                let list = vec![one; 30].join(",");
                let body = format!(r#"{{"model":"{model}","messages":[{list}]}}"#);
                let max = i64::try_from(body.len()).unwrap() * OF_A_BYTE + FRAME;
                assert!(surely_fits(&body, &Limits::of(max)));
                let engine = Engine::builder().build().unwrap();
                let options = Options::new().limits(Limits::of(max));
                let step = engine.session().next_with(body, &options, None).unwrap();
                assert_eq!(step.summary.messages_after, 30, "{model} {text:?}");
            }
        }
    }
}
