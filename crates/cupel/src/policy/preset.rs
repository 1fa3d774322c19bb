//! Policies to start from.

use std::fmt;
use std::str::FromStr;

use cupel_names::UnknownName;

use super::description::{
    BucketSize, CountEntryDescription, PlacerDescription, PolicyDescription, Scarcity,
    ScorerDescription, SlicerDescription, WeightedScorer,
};
use crate::{ContextKind, CupelError, OverflowStrategy, QuotaEntry};

/// A policy to start from. None reads a clock.
///
/// | preset | favours |
/// |---|---|
/// | `chat` | the latest turns; instructions and memories over small talk |
/// | `code-review` | files and tool output over talk, what is marked important, the common theme |
/// | `rag` | what the retriever ranked high and is trusted; best passages at both ends |
/// | `document-qa` | the densest use of the window by large passages, chosen by relevance |
/// | `tool-use` | recent tool results, of which the last two always stay |
/// | `long-running` | memories and what is marked important over mere recency |
/// | `debugging` | errors, failures and stack traces, and the latest events |
///
/// # Example
///
/// ```
/// use cupel::{Pipeline, Preset};
///
/// let pipeline = Pipeline::from(Preset::Chat.description().build()?);
/// assert_eq!("code-review".parse(), Ok(Preset::CodeReview));
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// A conversation.
    Chat,
    /// A change and its surroundings.
    CodeReview,
    /// Retrieved passages.
    Rag,
    /// Questions about documents.
    DocumentQa,
    /// An agent that calls tools.
    ToolUse,
    /// An agent that runs for days.
    LongRunning,
    /// The search for a fault.
    Debugging,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 7] = [
        Self::Chat,
        Self::CodeReview,
        Self::Rag,
        Self::DocumentQa,
        Self::ToolUse,
        Self::LongRunning,
        Self::Debugging,
    ];

    /// The name of the preset.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::CodeReview => "code-review",
            Self::Rag => "rag",
            Self::DocumentQa => "document-qa",
            Self::ToolUse => "tool-use",
            Self::LongRunning => "long-running",
            Self::Debugging => "debugging",
        }
    }

    /// Sentence about the items that the preset favours.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Chat => "The latest turns, with instructions and memories before small talk.",
            Self::CodeReview => {
                "Files and tool output before talk, what is marked important, and what most \
                 candidates are about."
            }
            Self::Rag => {
                "Passages that the retriever ranked high and that are trusted, the best of them \
                 at both ends of the window."
            }
            Self::DocumentQa => {
                "Large relevant passages, packed so that as little of the window as possible \
                 stays empty."
            }
            Self::ToolUse => {
                "Recent tool results and the turns around them; the two best tool results always \
                 stay."
            }
            Self::LongRunning => {
                "Memories, which have a share of their own, and what is marked important, before \
                 mere recency."
            }
            Self::Debugging => "Errors, failures and stack traces, and the latest events.",
        }
    }

    /// The preset as data, to build, to print, or to change.
    #[must_use]
    pub fn description(self) -> PolicyDescription {
        let mut policy = match self {
            Self::Chat => chat(),
            Self::CodeReview => code_review(),
            Self::Rag => rag(),
            Self::DocumentQa => document_qa(),
            Self::ToolUse => tool_use(),
            Self::LongRunning => long_running(),
            Self::Debugging => debugging(),
        };
        policy.name = Some(self.name().into());
        policy.description = Some(self.summary().into());
        policy
    }
}

fn chat() -> PolicyDescription {
    PolicyDescription::new(vec![
        weighted(3.0, ScorerDescription::Recency),
        weighted(1.0, ScorerDescription::Kind { weights: None }),
    ])
}

fn code_review() -> PolicyDescription {
    PolicyDescription {
        slicer: quota(&[(ContextKind::document(), 30.0, 90.0)]),
        placer: PlacerDescription::UShaped,
        ..PolicyDescription::new(vec![
            weighted(
                3.0,
                kinds(&[
                    (ContextKind::SYSTEM_PROMPT, 1.0),
                    (ContextKind::DOCUMENT, 1.0),
                    (ContextKind::TOOL_OUTPUT, 0.8),
                    (ContextKind::MESSAGE, 0.4),
                    (ContextKind::MEMORY, 0.3),
                ]),
            ),
            weighted(2.0, ScorerDescription::Priority),
            weighted(1.0, ScorerDescription::Frequency),
            weighted(1.0, ScorerDescription::Recency),
        ])
    }
}

fn rag() -> PolicyDescription {
    PolicyDescription {
        placer: PlacerDescription::UShaped,
        ..PolicyDescription::new(vec![
            weighted(4.0, ScorerDescription::Reflexive),
            weighted(1.0, ScorerDescription::MetadataTrust { default_score: 0.5 }),
            weighted(1.0, ScorerDescription::Recency),
        ])
    }
}

fn document_qa() -> PolicyDescription {
    PolicyDescription {
        slicer: SlicerDescription::Knapsack { bucket_size: BucketSize::Finest },
        placer: PlacerDescription::UShaped,
        ..PolicyDescription::new(vec![
            weighted(3.0, ScorerDescription::Reflexive),
            weighted(1.0, ScorerDescription::Frequency),
        ])
    }
}

fn tool_use() -> PolicyDescription {
    PolicyDescription {
        slicer: SlicerDescription::CountQuota {
            entries: vec![CountEntryDescription {
                kind: ContextKind::tool_output(),
                require_count: 2,
                cap_count: 40,
            }],
            scarcity: Scarcity::Degrade,
            inner: Box::new(SlicerDescription::Greedy),
        },
        // Guaranteed results may exceed the target; then the rest gives way.
        overflow_strategy: OverflowStrategy::Truncate,
        ..PolicyDescription::new(vec![
            weighted(3.0, ScorerDescription::Recency),
            weighted(
                1.0,
                kinds(&[
                    (ContextKind::SYSTEM_PROMPT, 1.0),
                    (ContextKind::TOOL_OUTPUT, 0.9),
                    (ContextKind::MESSAGE, 0.7),
                    (ContextKind::MEMORY, 0.5),
                    (ContextKind::DOCUMENT, 0.4),
                ]),
            ),
            weighted(1.0, ScorerDescription::Priority),
        ])
    }
}

fn long_running() -> PolicyDescription {
    PolicyDescription {
        slicer: quota(&[(ContextKind::memory(), 15.0, 50.0)]),
        ..PolicyDescription::new(vec![
            weighted(2.0, ScorerDescription::Priority),
            weighted(2.0, ScorerDescription::Recency),
            weighted(2.0, ScorerDescription::Kind { weights: None }),
            weighted(1.0, ScorerDescription::Frequency),
        ])
    }
}

fn debugging() -> PolicyDescription {
    let tags = ["error", "exception", "failure", "stacktrace", "warning"];
    PolicyDescription::new(vec![
        weighted(
            3.0,
            // Stretched, because hardly any item carries more than one of them.
            ScorerDescription::Scaled {
                scorer: Box::new(ScorerDescription::Tag {
                    weights: tags.map(|tag| (tag.to_owned(), 1.0)).into(),
                    caseless: true,
                }),
            },
        ),
        weighted(2.0, ScorerDescription::Recency),
        weighted(
            1.0,
            kinds(&[
                (ContextKind::SYSTEM_PROMPT, 1.0),
                (ContextKind::TOOL_OUTPUT, 1.0),
                (ContextKind::DOCUMENT, 0.6),
                (ContextKind::MESSAGE, 0.4),
                (ContextKind::MEMORY, 0.4),
            ]),
        ),
        weighted(1.0, ScorerDescription::Priority),
    ])
}

fn weighted(weight: f64, scorer: ScorerDescription) -> WeightedScorer {
    WeightedScorer { weight, scorer }
}

fn kinds(weights: &[(&str, f64)]) -> ScorerDescription {
    let weights = weights.iter().map(|(kind, weight)| ((*kind).to_owned(), *weight)).collect();
    ScorerDescription::Kind { weights: Some(weights) }
}

fn quota(shares: &[(ContextKind, f64, f64)]) -> SlicerDescription {
    let quotas = shares
        .iter()
        .map(|(kind, require, cap)| QuotaEntry::new(kind.clone(), *require, *cap))
        .collect::<Result<_, _>>()
        .expect("shares in this file are within 0 and 100 and in order");
    SlicerDescription::Quota { quotas, inner: Box::new(SlicerDescription::Greedy) }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = CupelError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name);
            CupelError::PipelineConfig(UnknownName::new("preset", name, known).to_string())
        })
    }
}
