//! Which tokenizer counts.

use std::path::Path;

use cupel_chat::Format;
use cupel_tokens::{Encoding, EstimateCounter, Model, OpenAiCounter, TokenCounter, nearest_name};

use crate::error::Failure;
use crate::progress::Progress;

/// The name of the counter that needs no vocabulary.
pub(crate) const ESTIMATE: &str = "estimate";

/// What decides how tokens are counted, strongest first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hints<'a> {
    /// What the user asked for.
    pub(crate) tokenizer: Option<&'a str>,
    /// The model that the flags or the request name.
    pub(crate) model: Option<&'static Model>,
    /// The format of the request; `None` for plain text.
    pub(crate) format: Option<Format>,
}

/// The counter. No vocabulary is loaded before the first text is counted.
pub(crate) fn choose(hints: Hints<'_>) -> Result<Box<dyn TokenCounter>, Failure> {
    match (hints.tokenizer, hints.model) {
        (Some(name), _) => by_name(name),
        (None, Some(model)) => Ok(model.counter()),
        (None, None) => Ok(match hints.format {
            Some(Format::Anthropic | Format::Gemini) => Box::new(EstimateCounter::new()),
            _ => Box::new(OpenAiCounter::new(Encoding::O200kBase)),
        }),
    }
}

/// The counter of a name that the user gave.
pub(crate) fn by_name(name: &str) -> Result<Box<dyn TokenCounter>, Failure> {
    if name == ESTIMATE {
        return Ok(Box::new(EstimateCounter::new()));
    }
    if let Ok(encoding) = name.parse::<Encoding>() {
        return Ok(Box::new(OpenAiCounter::new(encoding)));
    }
    let path = Path::new(name);
    if path.exists() || path.extension().is_some() || path.components().count() > 1 {
        return from_file(path);
    }
    let names = Encoding::ALL.map(Encoding::name).into_iter().chain([ESTIMATE]);
    let hint = match nearest_name(name, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known are {}, or give a file", names.collect::<Vec<_>>().join(", ")),
    };
    Err(Failure::cannot(format!("unknown tokenizer `{name}`; {hint}")))
}

/// The model of a name that the user gave.
pub(crate) fn model(name: &str) -> Result<&'static Model, Failure> {
    Model::find(name).map_err(|error| Failure::cannot(format!("--model: {error}")))
}

#[cfg(feature = "huggingface")]
fn from_file(path: &Path) -> Result<Box<dyn TokenCounter>, Failure> {
    let counter = cupel_tokens::HuggingFaceCounter::from_file(path).map_err(Failure::cannot)?;
    Ok(Box::new(counter))
}

#[cfg(not(feature = "huggingface"))]
fn from_file(path: &Path) -> Result<Box<dyn TokenCounter>, Failure> {
    Err(Failure::cannot(format!(
        "{}: this cupel cannot read tokenizer files; build it with the feature `huggingface`, or \
         try --tokenizer estimate",
        path.display()
    )))
}

/// A counter that shows how far it is through a long input.
pub(crate) struct Watched {
    counter: Box<dyn TokenCounter>,
    progress: Progress,
}

impl Watched {
    /// Watches the counting of so many bytes.
    pub(crate) fn new(counter: Box<dyn TokenCounter>, bytes: usize) -> Self {
        Self { counter, progress: Progress::of_bytes("counted", bytes) }
    }
}

impl TokenCounter for Watched {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn count(&self, text: &str) -> i64 {
        let tokens = self.counter.count(text);
        self.progress.advance(text.len());
        tokens
    }

    fn is_estimate(&self) -> bool {
        self.counter.is_estimate()
    }

    fn cut(&self, text: &str, from: usize) -> Option<usize> {
        self.counter.cut(text, from)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.progress.finish();
    }
}
