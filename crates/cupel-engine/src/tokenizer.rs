//! Which tokenizer counts.

use std::path::Path;
use std::sync::Arc;

use cupel_chat::Format;
use cupel_names::UnknownName;
use cupel_tokens::{Encoding, EstimateCounter, OpenAiCounter, TokenCounter, TokenizerFamily};

use crate::model::Named;
use crate::{EngineError, ErrorCode};

/// The name of the counter that needs no vocabulary.
pub(crate) const ESTIMATE: &str = "estimate";

/// Counter that the caller names.
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

/// The counter where the caller says nothing: as the model counts, an estimate for a name that no table
/// has, or, without a name, as most models of the format count. A format of `None` stands for plain
/// text. No vocabulary is read before the first text is counted.
pub(crate) fn implied(named: Named<'_>, format: Option<Format>) -> Counter {
    match (named.model, named.name, format) {
        (Some(model), _, _) => model.counter().into(),
        (None, Some(name), _) => Arc::new(EstimateCounter::for_model(name)),
        (None, None, format) => match format.and_then(Format::implied_family) {
            Some(family) => Arc::new(EstimateCounter::like(family)),
            None => Arc::new(OpenAiCounter::new(Encoding::O200kBase)),
        },
    }
}

/// The family that [`implied`] estimates like; `None` where it counts exactly.
pub(crate) fn family(named: Named<'_>, format: Option<Format>) -> Option<TokenizerFamily> {
    match (named.model, named.name) {
        (Some(model), _) => model.encoding.is_none().then_some(model.family),
        (None, Some(name)) => Some(TokenizerFamily::of_model(name)),
        (None, None) => format.and_then(Format::implied_family),
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
