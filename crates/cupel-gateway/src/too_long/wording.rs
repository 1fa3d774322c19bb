//! The wordings by which servers say that a request is too long, and where their numbers stand.
//!
//! A wording holds from the beginning of a message only. Whatever a server quotes of a request stands
//! behind words of its own, so that no text of a client can pass for one.

use super::Told;

/// Ways to say "too long", in lower case. `{window}`, `{prompt}`, `{answer}`, `{total}` (request and answer
/// together) and `{excess}` stand for numbers, `{word}` for anything without a space, as a model's name.
/// Where two match, the first holds.
pub(super) const WORDINGS: [&str; 44] = [
    // OpenAI, Azure and whoever copies them.
    "this model's maximum context length is {window} tokens. however, your messages resulted in {prompt} tokens",
    "this model's maximum context length is {window} tokens. however, you requested {total} tokens ({prompt} in the messages, {answer} in the completion)",
    "this model's maximum context length is {window} tokens. however, you requested {total} tokens ({prompt} in your prompt; {answer} for the completion)",
    "this model's maximum context length is {window} tokens, however you requested {total} tokens ({prompt} in your prompt; {answer} for the completion)",
    "input tokens exceed the configured limit of {window} tokens. your messages resulted in {prompt} tokens",
    "your input exceeds the context window of this model",
    "your input exceeds the context window",
    // vLLM, by version.
    "this model's maximum context length is {window} tokens. however, your request has {prompt} input tokens",
    "this model's maximum context length is {window} tokens. however, you requested {answer} output tokens and your prompt contains at least {prompt} input tokens",
    "this model's maximum context length is {window} tokens. however, you requested {answer} output tokens and your prompt contains {prompt} input tokens",
    "'max_tokens' or 'max_completion_tokens' is too large: {answer}. this model's maximum context length is {window} tokens and your request has {prompt} input tokens",
    "the decoder prompt (length {prompt}) is longer than the maximum model length of {window}",
    "the prompt (length {prompt}) is longer than the maximum model length of {window}",
    "the prompt (total length {prompt}) is too long to fit into the model (context length {window})",
    // SGLang.
    "the input ({prompt} tokens) is longer than the model's context length ({window} tokens)",
    "requested token count exceeds the model's maximum context length of {window} tokens. you requested a total of {total} tokens: {prompt} tokens from the input messages and {answer} tokens for the completion",
    "input length ({prompt} tokens) exceeds the maximum allowed length ({window} tokens)",
    // llama.cpp and what is built on it.
    "the request exceeds the available context size",
    "request ({prompt} tokens) exceeds the available context size ({window} tokens)",
    "the number of tokens to keep from the initial prompt is greater than the context length (n_keep: {prompt}>= n_ctx: {window})",
    "trying to keep the first {prompt} tokens when context the overflows. however, the model is loaded with context length of only {window} tokens",
    "context size has been exceeded",
    "requested tokens ({prompt}) exceed context window of {window}",
    "prompt too long; exceeded max context length by {excess} tokens",
    "prompt too long; exceeded max context length",
    // Text Generation Inference, Together.
    "`inputs` tokens + `max_new_tokens` must be <= {window}. given: {prompt} `inputs` tokens and {answer} `max_new_tokens`",
    "`inputs` must have less than {window} tokens. given: {prompt}",
    // Routers.
    "this endpoint's maximum context length is {window} tokens. however, you requested about {total} tokens ({prompt} of text input",
    "this endpoint's maximum context length is {window} tokens. however, you requested about {total} tokens",
    // Others, one by one: xAI, Mistral, Kimi, z.ai, MiniMax, Fireworks, Cerebras, Copilot, Cohere, Databricks, Groq.
    "this model's maximum prompt length is {window} but the request contains {prompt} tokens",
    "prompt contains {prompt} tokens and {word} draft tokens, too large for model with {window} maximum context length",
    "prompt contains {prompt} tokens, too large for model with {window} maximum context length",
    "your request exceeded model token limit: {window} (requested: {prompt})",
    "your request exceeded model token limit",
    "prompt exceeds max length",
    "context window exceeds limit",
    "the prompt is too long: {prompt}, model maximum context length: {window}",
    "please reduce the length of the messages or completion. current length is {prompt} while limit is {window}",
    "prompt token count of {prompt} exceeds the limit of {window}",
    "prompt token count {prompt} exceeds max allowed {window}",
    "too many tokens: total number of tokens in the request exceeds the maximum allowed of {window}. your request used {prompt}",
    // Anthropic and Bedrock, Gemini.
    "prompt is too long: {prompt} tokens > {window} maximum",
    "input length and `max_tokens` exceed context limit: {prompt} + {answer} > {window}",
    "the input token count ({prompt}) exceeds the maximum number of tokens allowed ({window})",
];

/// Wordings that name no number, or of which one version or another is cut short.
pub(super) const BARE: [&str; 7] = [
    "input is too long for requested model",
    "input is too long for the requested model",
    "prompt is too long",
    "the input token count exceeds the maximum number of tokens allowed",
    "this model's maximum context length is {window} tokens",
    "this endpoint's maximum context length is {window} tokens",
    "the request is too large for the model's context window",
];

/// Words before the message of a server in that of another, which hands it on.
const WRAPPERS: [&str; 6] = [
    "invalid request: ",
    "bad request: ",
    "invalid params, ",
    "input validation error: ",
    "the model returned the following errors: ",
    "invalid_request_error: ",
];

/// Reads a message, whatever wraps it.
pub(super) fn read(message: &str) -> Option<Told> {
    let lower = message.trim().to_lowercase();
    let message = unwrapped(&lower);
    WORDINGS.iter().chain(&BARE).find_map(|wording| matched(wording, message))
}

/// The message without what hands it on, as in `litellm.BadRequestError: OpenAIException - `.
fn unwrapped(mut message: &str) -> &str {
    loop {
        let word = message.split(' ').next().unwrap_or_default();
        let is_error = word.ends_with("error:") || word.ends_with("exception:");
        let after = message[word.len()..].trim_start();
        let rest = if is_error {
            Some(after)
        } else if word.ends_with("exception") {
            after.strip_prefix("- ")
        } else {
            WRAPPERS.iter().find_map(|wrapper| message.strip_prefix(wrapper))
        };
        match rest {
            Some(rest) => message = rest,
            None => return message,
        }
    }
}

/// The numbers of a message that begins as a wording says.
fn matched(wording: &str, message: &str) -> Option<Told> {
    let mut told = Told::default();
    let mut rest = message;
    let mut pieces = wording.split('{');
    rest = rest.strip_prefix(pieces.next()?)?;
    for piece in pieces {
        let (name, literal) = piece.split_once('}')?;
        if name == "word" {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            rest = &rest[end..];
        } else {
            let (number, after) = number(rest)?;
            *told.place(name)? = Some(number);
            rest = after;
        }
        rest = rest.strip_prefix(literal)?;
    }
    Some(told)
}

/// The number at the beginning of a text, which may be written as `1,048,576`, and what follows.
fn number(text: &str) -> Option<(i64, &str)> {
    let is_part = |(at, letter): (usize, char)| {
        let next = text[at + letter.len_utf8()..].starts_with(|next: char| next.is_ascii_digit());
        letter.is_ascii_digit() || (matches!(letter, ',' | '_') && at > 0 && next)
    };
    let end = text.char_indices().find(|part| !is_part(*part)).map_or(text.len(), |(at, _)| at);
    let digits: String = text[..end].chars().filter(char::is_ascii_digit).collect();
    Some((digits.parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every wording with numbers in its places is read as these numbers.
    #[test]
    fn every_wording_is_read_by_its_own_row() {
        for wording in WORDINGS.iter().chain(&BARE) {
            let message = wording
                .replace("{window}", "8,192")
                .replace("{prompt}", "12000")
                .replace("{answer}", "500")
                .replace("{total}", "12_500")
                .replace("{excess}", "3808")
                .replace("{word}", "0");
            let is_named = |name: &str, number| wording.contains(name).then_some(number);
            let expected = Told {
                window: is_named("{window}", 8_192),
                prompt: is_named("{prompt}", 12_000),
                answer: is_named("{answer}", 500),
                total: is_named("{total}", 12_500),
                excess: is_named("{excess}", 3_808),
            };
            assert_eq!(read(&message), Some(expected), "{message}");
            assert_eq!(read(&format!("{}. More.", message.to_uppercase())), Some(expected));
            assert_eq!(read(&format!("field `x` is \"{message}\"")), None, "quoted: {message}");
        }
    }

    #[test]
    fn a_message_may_be_handed_on_by_others() {
        let message = "prompt is too long: 9 tokens > 8 maximum";
        for before in [
            "",
            " ",
            "Bad request: ",
            "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - ",
            "The model returned the following errors: ",
            "ValidationException: Invalid request: ",
        ] {
            assert_eq!(read(&format!("{before}{message}")).unwrap().window, Some(8), "{before}");
        }
        for before in ["You said: ", "messages[0]: ", "error in ", "\"", "Unknown model "] {
            assert_eq!(read(&format!("{before}{message}")), None, "{before}");
        }
    }

    #[test]
    fn numbers_may_have_commas_and_end_where_they_end() {
        assert_eq!(number("1,048,576 x"), Some((1_048_576, " x")));
        assert_eq!(number("12, however"), Some((12, ", however")));
        assert_eq!(number("1_000)"), Some((1_000, ")")));
        assert_eq!(number(",5"), None);
        assert_eq!(number("99999999999999999999"), None);
        assert_eq!(number(""), None);
    }
}
