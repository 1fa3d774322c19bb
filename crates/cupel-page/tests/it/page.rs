//! The page around a view: escaped, and under its own policy.

use cupel_engine::{Engine, Options};
use cupel_page::{Asset, View, ViewOptions, assets, index, page, single_file};
use sha2::{Digest, Sha256};

const HOSTILE: &str =
    r#"[{"role": "user", "content": "</script><script>alert(1)</script><!--<script>"}]"#;

fn hostile() -> View {
    let engine = Engine::builder().tokenizer("estimate").max_tokens(400).build().unwrap();
    View::of_request(&engine, HOSTILE, &Options::new(), &ViewOptions::new()).unwrap()
}

/// Text between the first `begin` and the next `end`.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    let from = text.find(begin).unwrap() + begin.len();
    &text[from..from + text[from..].find(end).unwrap()]
}

#[test]
fn no_text_can_end_the_element_that_it_stands_in() {
    for text in [page(&hostile()), single_file(&hostile())] {
        assert!(!text.contains("alert(1)</script>"));
        let data = between(&text, "id=\"view\">", "</script>");
        assert!(!data.contains('<'));
        let again: View = serde_json::from_str(data).unwrap();
        assert_eq!(again, hostile());
    }
}

#[test]
fn the_single_file_allows_its_own_script_and_style_and_nothing_else() {
    let file = single_file(&hostile());
    let policy = between(&file, "Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    for (element, text) in [
        ("script-src", between(&file, "<script>", "</script>")),
        ("style-src", between(&file, "<style>", "</style>")),
    ] {
        let named = between(policy, &format!("{element} 'sha256-"), "'");
        assert_eq!(decoded(named), Sha256::digest(text).as_slice(), "{element}");
    }
    for outside in ["src=\"", "href=\"/", "http://", "https://"] {
        let without_data = file.replace(between(&file, "id=\"view\">", "</script>"), "");
        assert!(!without_data.contains(outside), "{outside}");
    }
}

fn decoded(base64: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits = base64.bytes().filter(|byte| *byte != b'=').map(digit);
    let bits = digits.map(|digit| format!("{digit:06b}")).collect::<Vec<_>>().concat();
    let bytes = bits.as_bytes().chunks_exact(8);
    bytes.map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap()).collect()
}

fn is_script(asset: &Asset) -> bool {
    asset.mime.starts_with("text/javascript")
}

#[test]
fn what_is_served_has_no_inline_script_or_style() {
    for text in [index(), page(&hostile())] {
        assert!(
            !text.contains("<style") && !text.contains("<script>") && !text.contains(" style=")
        );
        for asset in &assets() {
            let is_module = is_script(asset) && asset.name != "app.js";
            assert!(is_module || text.contains(&format!("\"/cupel/{}\"", asset.name)));
        }
    }
    for asset in assets().iter().filter(|asset| is_script(asset)) {
        for risky in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write", "http:"]
        {
            assert!(!asset.body.contains(risky), "{}: {risky}", asset.name);
        }
    }
}
