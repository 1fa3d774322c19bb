//! Which tokenizer counts.

use std::path::Path;
use std::sync::Arc;

use cupel_chat::Format;
use cupel_names::UnknownName;
use cupel_tokens::{Encoding, EstimateCounter, Model, OpenAiCounter, TokenCounter};

use crate::{EngineError, ErrorCode};

/// The name of the counter that needs no vocabulary.
pub(crate) const ESTIMATE: &str = "estimate";

/// How tokens are counted where the caller says it.
pub(crate) type Counter = Arc<dyn TokenCounter>;

/// The counter of a name: `o200k_base`, `cl100k_base`, `estimate`, or the path of a
/// `tokenizer.json` (feature `huggingface`). No vocabulary is read before the first text is counted.
///
/// # Errors
///
/// [`ErrorCode::UnknownTokenizer`] with the nearest name, and [`ErrorCode::UnreadableTokenizer`] for
/// a file that cannot be read.
pub fn counter(name: &str) -> Result<Counter, EngineError> {
    if name == ESTIMATE {
        return Ok(Arc::new(EstimateCounter::new()));
    }
    if let Ok(encoding) = name.parse::<Encoding>() {
        return Ok(Arc::new(OpenAiCounter::new(encoding)));
    }
    let path = Path::new(name);
    if path.exists() || path.extension().is_some() || path.components().count() > 1 {
        return from_file(path);
    }
    let names = Encoding::ALL.map(Encoding::name).into_iter().chain([ESTIMATE]);
    let hint = UnknownName::new("tokenizer", name, names).or("or give a file").hint();
    let error =
        EngineError::new(ErrorCode::UnknownTokenizer, format!("unknown tokenizer `{name}`"));
    Err(error.with_remedy(hint))
}

/// The counter where the caller says nothing: as the model counts, or as most models of the format
/// do. `None` stands for plain text. No vocabulary is read before the first text is counted.
pub(crate) fn implied(model: Option<&Model>, format: Option<Format>) -> Counter {
    match (model, format) {
        (Some(model), _) => model.counter().into(),
        (None, Some(Format::Anthropic | Format::Gemini)) => Arc::new(EstimateCounter::new()),
        (None, _) => Arc::new(OpenAiCounter::new(Encoding::O200kBase)),
    }
}

#[cfg(feature = "huggingface")]
fn from_file(path: &Path) -> Result<Counter, EngineError> {
    let counter = cupel_tokens::HuggingFaceCounter::from_file(path);
    let unreadable = |error: cupel_tokens::TokenizerFileError| {
        EngineError::new(ErrorCode::UnreadableTokenizer, error.to_string())
    };
    Ok(Arc::new(counter.map_err(unreadable)?))
}

#[cfg(not(feature = "huggingface"))]
fn from_file(path: &Path) -> Result<Counter, EngineError> {
    let error =
        EngineError::new(ErrorCode::UnreadableTokenizer, "this build cannot read tokenizer files");
    let remedy = "build it with the feature `huggingface`, or count by `estimate`";
    Err(error.at_path(path.display().to_string()).with_remedy(remedy))
}
