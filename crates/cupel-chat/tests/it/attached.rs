//! Files that are attached: by pages, seconds and text, never for nothing.

use cupel_chat::{CandidateOptions, Format, Request};
use cupel_tokens::{Attachment, Overheads};

use crate::pipelines::Quarters;

/// Bytes as base64.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| usize::from(three.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = char::from(LETTERS[bits >> (18 - 6 * place) & 63]);
            text.push(if place > three.len() { '=' } else { letter });
        }
    }
    text
}

/// A PDF of so many pages and bytes.
fn pdf(pages: usize, bytes: usize) -> Vec<u8> {
    let tree = format!("%PDF-1.4\n1 0 obj <</Type /Pages /Count {pages}>> endobj\n");
    let page = "2 0 obj <</Type /Page /Parent 1 0 R>> endobj\n";
    let mut file = (tree + &page.repeat(pages) + "99 0 obj <</Length 9>> stream\n").into_bytes();
    let missing = bytes.saturating_sub(file.len());
    file.extend((0..missing).map(|at| (at * 31 % 251) as u8));
    file
}

/// A request with this file in it, in the way of each format.
fn requests(data: &str, media_type: &str) -> Vec<(Format, String)> {
    let message = |field: &str, block: &str| {
        format!(r#"{{"{field}":[{{"role":"user","content":[{block}]}}]}}"#)
    };
    let address = format!("data:{media_type};base64,{data}");
    vec![
        (
            Format::OpenAiChat,
            message(
                "messages",
                &format!(r#"{{"type":"file","file":{{"filename":"f","file_data":"{address}"}}}}"#),
            ),
        ),
        (
            Format::OpenAiResponses,
            message("input", &format!(r#"{{"type":"input_file","file_data":"{address}"}}"#)),
        ),
        (
            Format::Anthropic,
            message(
                "messages",
                &format!(
                    r#"{{"type":"document","source":{{"type":"base64","media_type":"{media_type}","data":"{data}"}}}}"#
                ),
            ),
        ),
        (
            Format::Gemini,
            format!(
                r#"{{"contents":[{{"role":"user","parts":[{{"inlineData":{{"mimeType":"{media_type}","data":"{data}"}}}}]}}]}}"#
            ),
        ),
        (
            Format::AiSdk,
            message(
                "messages",
                &format!(r#"{{"type":"file","data":"{data}","mediaType":"{media_type}"}}"#),
            ),
        ),
        (
            Format::AiSdk,
            message(
                "prompt",
                &format!(
                    r#"{{"type":"file","data":{{"type":"data","data":"{data}"}},"mediaType":"{media_type}"}}"#
                ),
            ),
        ),
        (
            Format::AiSdkUi,
            format!(
                r#"[{{"role":"user","parts":[{{"type":"file","url":"{address}","mediaType":"{media_type}"}}]}}]"#
            ),
        ),
        (
            Format::LangChain,
            format!(
                r#"[{{"type":"human","content":[{{"type":"file","base64":"{data}","mime_type":"{media_type}"}}]}}]"#
            ),
        ),
    ]
}

fn count(format: Format, text: &str) -> (i64, bool) {
    let request = Request::parse(text, Some(format)).unwrap();
    let candidates = request.candidates(&Quarters, &CandidateOptions::default()).unwrap();
    (candidates.total_tokens(), candidates.is_estimate())
}

#[test]
fn a_large_pdf_counts_by_its_pages() {
    let data = base64(&pdf(12, 4_000_000));
    for (format, text) in requests(&data, "application/pdf") {
        let (tokens, is_estimate) = count(format, &text);
        let overheads = match format {
            Format::Anthropic => Overheads::anthropic(),
            Format::Gemini => Overheads::gemini(),
            _ => Overheads::openai_chat(),
        };
        let pages = overheads.attachment_tokens(&Attachment::Pages(12));
        assert!((pages..pages + 20).contains(&tokens), "{format}: {tokens} instead of {pages}");
        assert!(is_estimate, "{format}");
    }
}

#[test]
fn a_file_of_the_ai_sdk_is_an_image_if_its_type_says_so() {
    let model =
        |part: &str| count(Format::AiSdk, &format!(r#"[{{"role":"user","content":[{part}]}}]"#)).0;
    let image = model(r#"{"type":"image","image":"https://x/y.png"}"#);
    assert_eq!(model(r#"{"type":"file","data":"https://x/y.png","mediaType":"image/png"}"#), image);
    let ui = r#"[{"role":"user","parts":[{"type":"file","url":"https://x/y.png","mediaType":"image/png"}]}]"#;
    assert_eq!(count(Format::AiSdkUi, ui).0, image);
    // The address of a document is not its text.
    let named = model(r#"{"type":"file","data":"https://x/y.pdf","mediaType":"application/pdf"}"#);
    assert_eq!(
        named - model(r#"{"type":"text","text":""}"#),
        Overheads::openai_chat().attachment_tokens(&Attachment::Elsewhere)
    );
}

#[test]
fn a_file_of_a_provider_of_the_ai_sdk_is_what_its_data_say() {
    let model =
        |part: &str| count(Format::AiSdk, &format!(r#"[{{"role":"user","content":[{part}]}}]"#)).0;
    let words = "one line of a log ".repeat(100);
    let told = model(&format!(
        r#"{{"type":"file","data":{{"type":"text","text":"{words}"}},"mediaType":"text/plain"}}"#
    ));
    assert_eq!(told, model(&format!(r#"{{"type":"text","text":"{words}"}}"#)));

    // The first bytes of a PNG say how large it is.
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\0\0\0\x02\0".to_vec();
    png.resize(64, 0);
    let png = base64(&png);
    let large = model(&format!(r#"{{"type":"file","data":"{png}","mediaType":"image/png"}}"#));
    let held = format!(r#"{{"type":"data","data":"{png}"}}"#);
    assert_eq!(
        model(&format!(r#"{{"type":"file","data":{held},"mediaType":"image/png"}}"#)),
        large
    );
    assert_ne!(model(r#"{"type":"file","data":"https://x/y.png","mediaType":"image/png"}"#), large);

    // What a model drew while it thought is an image, not the letters of its bytes.
    let thought = format!(
        r#"[{{"role":"user","content":"x"}},{{"role":"assistant","content":[{{"type":"reasoning-file","data":{held},"mediaType":"image/png"}}]}}]"#
    );
    let said = format!(
        r#"[{{"role":"user","content":"x"}},{{"role":"assistant","content":[{{"type":"file","data":{held},"mediaType":"image/png"}}]}}]"#
    );
    assert_eq!(count(Format::AiSdk, &thought), count(Format::AiSdk, &said));
}

#[test]
fn the_schema_of_an_answer_counts_for_the_ai_sdk() {
    let request = |format: &str| {
        let text = format!(
            r#"{{"prompt":[{{"role":"user","content":[{{"type":"text","text":"a"}}]}}]{format}}}"#
        );
        count(Format::AiSdk, &text).0
    };
    let bare = request("");
    assert_eq!(request(r#","responseFormat":{"type":"text"}"#), bare);
    let schema = r#","responseFormat":{"type":"json","schema":{"type":"object","properties":{"answer":{"type":"string"}}}}"#;
    assert!(request(schema) > bare + 10);
}

#[test]
fn a_text_file_counts_as_its_text() {
    let words = "one line of a log\n".repeat(1_000);
    for (format, text) in requests(&base64(words.as_bytes()), "text/plain") {
        let (tokens, is_estimate) = count(format, &text);
        assert!((4_500..4_530).contains(&tokens), "{format}: {tokens}");
        assert!(!is_estimate, "{format}");
    }
}

#[test]
fn sound_counts_by_its_seconds() {
    // 16-bit mono at 8,000 a second: 16,000 bytes a second, for a minute.
    let mut wav =
        b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0".to_vec();
    wav.extend(b"data");
    wav.extend(960_000_u32.to_le_bytes());
    wav.extend(vec![0; 960_000]);
    let data = base64(&wav);
    let chat = format!(
        r#"[{{"role":"user","content":[{{"type":"input_audio","input_audio":{{"data":"{data}","format":"wav"}}}}]}}]"#
    );
    assert_eq!(count(Format::OpenAiChat, &chat).0, 600 + 4 + 3);
    let gemini =
        format!(r#"[{{"parts":[{{"inline_data":{{"mime_type":"audio/wav","data":"{data}"}}}}]}}]"#);
    assert_eq!(count(Format::Gemini, &gemini), (60 * 32, true));
}

#[test]
fn a_file_that_is_only_named_has_a_bound() {
    for (format, block) in [
        (Format::OpenAiChat, r#"{"type":"file","file":{"file_id":"f"}}"#),
        (
            Format::OpenAiResponses,
            r#"{"type":"input_file","file_url":"https://example.org/a.pdf"}"#,
        ),
        (Format::Anthropic, r#"{"type":"document","source":{"type":"file","file_id":"f"}}"#),
        (
            Format::Anthropic,
            r#"{"type":"document","source":{"type":"url","url":"https://example.org"}}"#,
        ),
    ] {
        let text = format!(r#"[{{"role":"user","content":[{block}]}}]"#);
        let (tokens, is_estimate) = count(format, &text);
        assert!(tokens > 10_000 && is_estimate, "{format}: {tokens}");
    }
}
