#![doc = include_str!("../README.md")]

mod builder;
mod cancel;
mod compare;
mod count;
mod engine;
mod error;
mod explain;
mod finite;
mod fit_text;
mod input;
mod items;
pub mod json;
mod limits;
mod memo;
mod model;
mod options;
mod part;
mod policy;
mod prepare;
mod progress;
mod recognize;
mod renderings;
#[cfg(feature = "schema")]
mod report_schema;
mod scan;
mod schema;
mod select;
mod session;
mod setting;
mod shorten;
mod simulate;
mod standing;
mod superseded;
mod survey;
mod tokenizer;
mod tools;
mod usage;
mod validate;

pub use builder::EngineBuilder;
pub use cancel::Cancel;
pub use compare::{Comparison, Swing};
pub use count::{Count, TextCount};
pub use engine::Engine;
pub use error::{EngineError, ErrorCode};
pub use explain::{
    EarnedBy, Explanation, Kept, KeptReason, LeftOut, ShortenedPart, Signal, ToGetIn, Why,
};
pub use fit_text::FittedText;
pub use input::RequestInput;
pub use items::ItemSelection;
pub use limits::{Limits, parse_margin, parse_tokens};
pub use memo::RememberingCounter;
pub use model::{ModelList, ModelPrices, ModelRow, models};
pub use options::Options;
pub use part::{Outdated, Part, RepairDone, RuleBroken};
#[cfg(feature = "schema")]
pub use policy::policy_schema;
pub use policy::{CompiledPolicy, DEFAULT_POLICY, NamedPolicy, PolicyList, PolicyRow, policies};
pub use prepare::Prepared;
pub use progress::{Progress, Work};
pub use renderings::read_renderings;
pub use schema::Schema;
#[cfg(feature = "schema")]
pub use schema::json_schemas;
pub use select::{BudgetSummary, Selection, Summary};
pub use session::{
    Account, CacheEntry, CacheRule, Conversation, ConversationKey, ConversationScope, Fingerprint,
    MarkRule, NewAccount, SentAgain, SentShorter, Session, SessionSchema, SessionSettings,
    SessionState, SessionStep, Step, Totals, Usage,
};
pub use setting::{SETTINGS, Setting, SettingKind};
pub use shorten::{ShortenedText, UnusedRendering};
pub use simulate::{
    Curve, CurvePoint, CurveRange, Marginal, MinBudget, ShortenedPosition, Window, Windows,
};
pub use standing::StandingRule;
pub use superseded::Superseded;
pub use survey::{Change, Joined, Shown, Survey, SurveyedPart};
pub use tokenizer::counter;
pub use tools::{FittedTool, SentTool, ToolFate, ToolList, ToolMode, ToolRow};
pub use validate::{Repaired, Validation};

pub use cupel::{Draft, Original, Renderer};
pub use cupel_chat::{
    Format, ListedConversation, OwnRendering, Pick, Pin, RepairMode, Request, Rule, Shortenable,
    Target, TranscriptError, TranscriptKind,
};
pub use cupel_relevance::{VectorFile, VectorFileError};
pub use cupel_renderings::{Shorten, handle};
