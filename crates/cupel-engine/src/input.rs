//! A request as callers have it: as text, or read already.

use std::sync::Arc;

use cupel_chat::{ChatError, Format, Request};

use crate::{EngineError, ErrorCode, recognize};

/// A request as a caller has it: a text that is still to be read, or a [`Request`] that was read, which is
/// not parsed again.
///
/// Every question to an engine or a session takes either.
///
/// ```
/// use cupel_engine::{Engine, Request};
///
/// let engine = Engine::builder().max_tokens(1_000).tokenizer("estimate").build()?;
/// let text = r#"[{"role": "user", "content": "Hello!"}]"#;
/// let request = Request::parse(text, None)?;
/// assert_eq!(engine.select(request)?.text, engine.select(text)?.text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RequestInput {
    /// The text of a request.
    Text(Arc<str>),
    /// A request that was read.
    Read(Request),
}

impl RequestInput {
    /// The request; `parse` reads it where it is a text. One that was read as another format than the one that
    /// the engine is set to is refused: it would mean something else.
    pub(crate) fn read(
        self,
        format: Option<Format>,
        parse: impl FnOnce(Arc<str>, Option<Format>) -> Result<Request, ChatError>,
    ) -> Result<Request, EngineError> {
        match self {
            Self::Text(text) => {
                parse(text.clone(), format).map_err(|error| recognize::unreadable(&text, error))
            }
            Self::Read(request) => match format.filter(|format| *format != request.format()) {
                None => Ok(request),
                Some(format) => {
                    let (read, set) = (request.format().name(), format.name());
                    let rule =
                        format!("the request was read as `{read}`, the engine reads `{set}`");
                    let error = EngineError::new(ErrorCode::InvalidArgument, rule);
                    Err(error.at_path("format").with_remedy("read it as the format of the engine"))
                }
            },
        }
    }
}

impl From<Request> for RequestInput {
    fn from(request: Request) -> Self {
        Self::Read(request)
    }
}

/// A text of any kind that can be shared.
macro_rules! of_text {
    ($($text:ty),+) => {
        $(impl From<$text> for RequestInput {
            fn from(text: $text) -> Self {
                Self::Text(text.into())
            }
        })+
    };
}

of_text!(&str, String, Arc<str>, Box<str>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Options};

    const TEXT: &str = r#"[{"role":"user","content":"one"},{"role":"user","content":"two"}]"#;

    #[test]
    fn a_request_that_was_read_is_answered_as_its_text_is() {
        let engine = Engine::builder().max_tokens(12).tokenizer("estimate").build().unwrap();
        let read = || Request::parse(TEXT, None).unwrap();
        assert_eq!(engine.select(read()).unwrap().text, engine.select(TEXT).unwrap().text);
        let step = |session: &mut crate::Session, request: RequestInput| {
            let step = session.next(request).unwrap();
            (session.accept(), step)
        };
        let (mut by_text, mut by_request) = (engine.session(), engine.session());
        for _ in 0..2 {
            assert_eq!(step(&mut by_text, TEXT.into()), step(&mut by_request, read().into()));
        }
        assert_eq!(by_text.state(), by_request.state());
    }

    #[test]
    fn a_request_of_another_format_than_the_engine_reads_is_refused() {
        let engine = Engine::builder().max_tokens(100).format(Format::Anthropic).build().unwrap();
        let request = Request::parse(TEXT, Some(Format::OpenAiChat)).unwrap();
        let error = engine.count(request, &Options::new()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
        assert!(error.message().contains("`openai-chat`"), "{error}");
        assert!(error.message().contains("`anthropic`"), "{error}");
    }
}
