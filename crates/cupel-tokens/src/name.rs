//! Names of models, as services spell them.

use crate::TokenizerFamily;

/// Services that are put before a name with a colon, as in `openai:gpt-4o`. A colon may also stand
/// before a tag, as in `llama3.1:8b`, so that only these are cut off.
const SERVICES: [&str; 27] = [
    "anthropic",
    "anthropic-vertex",
    "azure",
    "azure_openai",
    "bedrock",
    "bedrock_converse",
    "cerebras",
    "cohere",
    "deepseek",
    "fireworks",
    "gateway",
    "google",
    "google-gla",
    "google-vertex",
    "google_genai",
    "google_vertexai",
    "groq",
    "huggingface",
    "mistral",
    "mistralai",
    "ollama",
    "openai",
    "openai-chat",
    "openai-responses",
    "openrouter",
    "together",
    "xai",
];

/// Vendors that Bedrock and Oracle put before a name with a dot, perhaps behind a region. Only these
/// are cut off: versions have dots too.
const VENDORS: [&str; 13] = [
    "amazon.",
    "anthropic.",
    "cohere.",
    "deepseek.",
    "google.",
    "meta.",
    "minimax.",
    "mistral.",
    "moonshotai.",
    "openai.",
    "qwen.",
    "xai.",
    "zai.",
];

/// Words that services put before a name with a dash.
const BRANDS: [&str; 3] = ["databricks-", "snowflake-", "fw-"];

/// Words that are followed by a version with a dash or without one.
const JOINED: [&str; 5] = ["llama", "qwen", "gemma", "mistral", "grok"];

/// The name in lower case, without what services put before it.
pub(crate) fn without_service(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = match name.split_once(':') {
        // `mistral:7b` is a tag, `mistral:mistral-large` a service.
        Some((service, model)) if SERVICES.contains(&service) && !is_tag(model) => model,
        _ => name,
    };
    if let Some(tuned) = name.strip_prefix("ft:") {
        return tuned.split(':').next().unwrap_or_default().to_owned();
    }
    let name = VENDORS
        .into_iter()
        .find_map(|vendor| name.split_once(vendor))
        .filter(|(region, _)| region.is_empty() || region.ends_with(['.', ':']))
        .map_or(name, |(_, model)| model.strip_suffix("-1:0").unwrap_or(model));
    let name = BRANDS.into_iter().find_map(|brand| name.strip_prefix(brand)).unwrap_or(name);
    match name.strip_prefix("meta-llama-") {
        Some(version) => format!("llama-{version}"),
        None => name.to_owned(),
    }
}

/// Returns true if what follows a colon says which size or state of a model, not which model.
fn is_tag(rest: &str) -> bool {
    rest == "latest" || rest.starts_with(|c: char| c.is_ascii_digit())
}

/// A name, spelt the one way that names are compared in: a version `4.5` or `4p5` as `4-5`,
/// `llama3` and `llama-v3` as `llama-3`, a tag `:8b` as `-8b`, `claude-4-opus` as `claude-opus-4`.
pub(crate) fn canonical(name: &str) -> String {
    let mut spelt = String::with_capacity(name.len() + 1);
    let bytes = name.as_bytes();
    for (at, c) in name.char_indices() {
        let is_between_digits = at > 0
            && bytes[at - 1].is_ascii_digit()
            && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        if c.is_ascii_digit() && JOINED.iter().any(|word| spelt.ends_with(word)) {
            spelt.push('-');
        }
        let is_dash = c == ':' || matches!(c, '.' | 'p') && is_between_digits;
        spelt.push(if is_dash { '-' } else { c });
    }
    let spelt = spelt.replace("llama-v", "llama-");
    claude_by_tier(&spelt).unwrap_or(spelt)
}

/// `claude-4-5-sonnet` as Anthropic spells it since Claude 4: `claude-sonnet-4-5`.
fn claude_by_tier(name: &str) -> Option<String> {
    let rest = name.strip_prefix("claude-")?;
    let tier = ["opus", "sonnet", "haiku", "fable", "mythos"].into_iter().find_map(|tier| {
        let (version, rest) = rest.split_once(tier)?;
        Some((version.strip_suffix('-')?, tier, rest))
    });
    let (version, tier, rest) = tier?;
    let is_new = version.as_bytes().first().is_some_and(|digit| (b'4'..=b'9').contains(digit));
    is_new.then(|| format!("claude-{tier}-{version}{rest}"))
}

/// Family of tokenizers by the name of a model that no table has, and the number of tokens it makes
/// by what its family makes, in percent.
///
/// The last word that names a family decides: `deepseek-r1-distill-llama-70b` is a Llama.
pub(crate) fn family(name: &str) -> (TokenizerFamily, u32) {
    let plain = canonical(&without_service(name));
    // Some vendors are no part of the name, as in `us.deepseek.r1-v1:0`.
    let named = last_family(&plain).or_else(|| last_family(&name.to_ascii_lowercase()));
    match named {
        Some(TokenizerFamily::Claude) => (TokenizerFamily::Claude, claude_percent(&plain)),
        // Before Llama 3 and Mistral Nemo, both had vocabularies of 32,000 tokens.
        Some(TokenizerFamily::Llama | TokenizerFamily::Mistral) if is_small(&plain) => SMALL,
        Some(family) => (family, 100),
        None => (TokenizerFamily::Unknown, 100),
    }
}

/// The family that a name speaks of last.
fn last_family(name: &str) -> Option<TokenizerFamily> {
    let places =
        FAMILIES.iter().filter_map(|(word, family)| Some((last_word(name, word)?, family)));
    places.max_by_key(|(at, _)| *at).map(|(_, family)| *family)
}

/// A vocabulary of 32,000 tokens, of which nothing is fitted.
const SMALL: (TokenizerFamily, u32) = (TokenizerFamily::Unknown, 120);

/// Words in names of models, and whose tokenizer they have.
const FAMILIES: [(&str, TokenizerFamily); 22] = [
    ("claude", TokenizerFamily::Claude),
    ("gemini", TokenizerFamily::Gemma),
    ("gemma", TokenizerFamily::Gemma),
    ("llama", TokenizerFamily::Llama),
    ("qwen", TokenizerFamily::Qwen),
    ("qwq", TokenizerFamily::Qwen),
    ("qvq", TokenizerFamily::Qwen),
    ("mistral", TokenizerFamily::Mistral),
    ("mixtral", TokenizerFamily::Mistral),
    ("ministral", TokenizerFamily::Mistral),
    ("codestral", TokenizerFamily::Mistral),
    ("devstral", TokenizerFamily::Mistral),
    ("magistral", TokenizerFamily::Mistral),
    ("pixtral", TokenizerFamily::Mistral),
    ("voxtral", TokenizerFamily::Mistral),
    ("deepseek", TokenizerFamily::DeepSeek),
    ("gpt", TokenizerFamily::OpenAi),
    ("codex", TokenizerFamily::OpenAi),
    ("o1", TokenizerFamily::OpenAi),
    ("o3", TokenizerFamily::OpenAi),
    ("o4", TokenizerFamily::OpenAi),
    ("o5", TokenizerFamily::OpenAi),
];

/// Where a word begins last in a name. Short ones must stand by themselves; longer ones may be joined
/// to others, as in `codegemma` or `chatgpt`.
fn last_word(name: &str, word: &str) -> Option<usize> {
    let is_alone = |at: usize| {
        let end = at + word.len();
        let is_edge = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let before = at.checked_sub(1).and_then(|before| name.as_bytes().get(before));
        is_edge(before) && is_edge(name.as_bytes().get(end))
    };
    let places = name.match_indices(word).map(|(at, _)| at);
    places.filter(|&at| word.len() > 2 || is_alone(at)).last()
}

/// Returns true if a Llama or a Mistral is one with the vocabulary of Llama 2.
fn is_small(name: &str) -> bool {
    let is_llama_2 = name
        .split_once("llama-2")
        .is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_ascii_digit()));
    is_llama_2 || ["codellama", "mixtral", "mistral-7b"].iter().any(|small| name.contains(small))
}

/// Claude 4.7 and later make up to 35 % more tokens; so does a name without a version, since the newest
/// may be meant.
fn claude_percent(name: &str) -> u32 {
    let mut numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let Some(major) = numbers.next().and_then(|major| major.parse::<u32>().ok()) else {
        return 130;
    };
    // A long number is a date.
    let minor = numbers.next().filter(|minor| minor.len() <= 2);
    let minor = minor.and_then(|minor| minor.parse::<u32>().ok()).unwrap_or(0);
    if (major, minor) < (4, 7) { 100 } else { 130 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_in_one_spelling() {
        for (name, spelt) in [
            ("claude-sonnet-4.5", "claude-sonnet-4-5"),
            ("claude-4.5-sonnet", "claude-sonnet-4-5"),
            ("claude-4-sonnet", "claude-sonnet-4"),
            ("claude-3.5-sonnet", "claude-3-5-sonnet"),
            ("llama3.1:8b", "llama-3-1-8b"),
            ("llama-v3p1-8b", "llama-3-1-8b"),
            ("qwen2p5-72b", "qwen-2-5-72b"),
            ("gpt-4o", "gpt-4o"),
        ] {
            assert_eq!(canonical(name), spelt);
        }
    }

    #[test]
    fn no_name_is_too_odd() {
        for name in ["", ":", "/", ".", "ft:", "claude-", "ü.4p5", "claude-9999999999999-opus"] {
            family(name);
            canonical(name);
        }
    }
}
