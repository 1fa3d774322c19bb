//! Counts with a tokenizer that is given as a file.

use std::fmt;
use std::path::{Path, PathBuf};

use tokenizers::Tokenizer;

use crate::{EstimateCounter, TokenCounter};

/// Counts with a Hugging Face `tokenizer.json`, as open weights come with.
///
/// Special tokens in a text count as the ordinary text that they are, none are added, and whatever
/// truncation or padding the file asks for is left off. A text that the tokenizer refuses, as some
/// do with words that they do not know, is estimated.
///
/// ```no_run
/// use cupel_tokens::{HuggingFaceCounter, TokenCounter};
///
/// let counter = HuggingFaceCounter::from_file("qwen/tokenizer.json")?;
/// println!("{} tokens", counter.count("Why did the deploy fail?"));
/// # Ok::<(), cupel_tokens::TokenizerFileError>(())
/// ```
pub struct HuggingFaceCounter {
    name: String,
    tokenizer: Tokenizer,
}

impl HuggingFaceCounter {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a tokenizer.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, TokenizerFileError> {
        let path = path.as_ref();
        let failed = |cause| TokenizerFileError { path: path.to_owned(), cause };
        let bytes = std::fs::read(path).map_err(|error| failed(Cause::Read(error)))?;
        let mut tokenizer = Tokenizer::from_bytes(bytes)
            .map_err(|error| failed(Cause::Format(one_line(&error.to_string()))))?;
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|error| failed(Cause::Format(one_line(&error.to_string()))))?;
        tokenizer.set_encode_special_tokens(true);
        Ok(Self { name: path.display().to_string(), tokenizer })
    }
}

impl TokenCounter for HuggingFaceCounter {
    /// The path of the file.
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> i64 {
        match self.tokenizer.encode_fast(text, false) {
            Ok(encoding) => i64::try_from(encoding.len()).unwrap_or(i64::MAX),
            Err(_) => EstimateCounter::new().count(text),
        }
    }
}

impl fmt::Debug for HuggingFaceCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HuggingFaceCounter").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A file could not be made a tokenizer of.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub struct TokenizerFileError {
    path: PathBuf,
    #[source]
    cause: Cause,
}

impl TokenizerFileError {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A name for this error that does not change: `tokenizer-unreadable` or `tokenizer-invalid`.
    pub const fn code(&self) -> &'static str {
        match self.cause {
            Cause::Read(_) => "tokenizer-unreadable",
            Cause::Format(_) => "tokenizer-invalid",
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("cannot read the tokenizer: {0}")]
    Read(std::io::Error),
    #[error(
        "not a Hugging Face tokenizer.json: {0}; give the tokenizer.json that comes with a model"
    )]
    Format(String),
}

/// Messages of the tokenizer library may have several lines.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
