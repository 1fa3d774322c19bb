//! Selects what goes into a chat request without breaking it: OpenAI, Anthropic, Gemini,
//! Bedrock, Ollama, Cohere, the AI SDK, LangChain.
//!
//! A request comes in as text. [`Request::parse`] reads it, [`Request::candidates`] makes items for
//! a [`cupel::Pipeline`] of it, and [`Candidates::render`] writes the request again, without what was
//! left out.
//!
//! ```
//! use cupel::{ContextBudget, Pipeline, Preset};
//! use cupel_chat::{CandidateOptions, Request};
//! use cupel_tokens::EstimateCounter;
//!
//! let text = r#"{"model": "gpt-4o", "messages": [
//!     {"role": "user", "content": "Which files are there?"},
//!     {"role": "assistant", "content": null, "tool_calls": [
//!         {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
//!     {"role": "tool", "tool_call_id": "c1", "content": "a.txt b.txt c.txt d.txt e.txt"},
//!     {"role": "user", "content": "Thanks. What is 2 + 2?"}
//! ]}"#;
//! let request = Request::parse(text, None)?;
//! let candidates =
//!     request.candidates(&EstimateCounter::default(), &CandidateOptions::default())?;
//! let pipeline = Pipeline::from(Preset::Chat.description().build()?);
//! let pipeline = pipeline.with_needs(candidates.needs());
//! let budget = ContextBudget::builder(30).build()?;
//! let window = pipeline.window(candidates.items(), &budget)?;
//! let kept: Vec<usize> = window.iter().map(|placed| placed.position).collect();
//!
//! // The call and its result went together.
//! assert_eq!(candidates.kept_messages(&kept), [0, 3]);
//! let text = candidates.render(&kept);
//! assert!(!text.contains("c1") && text.contains("2 + 2"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! - **What stays is unchanged**, to the byte: key order, unknown fields, numbers, white space. If
//!   nothing is left out, the output is the input.
//! - **What goes in valid comes out valid**, for every budget. Messages that need each other are one
//!   [`Bundle`], which is in or out as a whole; a bundle that needs another one is in only with it, if
//!   the pipeline is told of [`Candidates::needs`].
//! - **What is broken is reported**, never selected from: [`Request::validate`] names message, rule
//!   and remedy. It is repaired only when asked: [`Request::repair`].
//! - **Nothing is copied to be read.** A request and its candidates share one text, without a
//!   lifetime and across threads; 100 MB of it are fine.
//!
//! # Bundles
//!
//! | format | a bundle is |
//! |---|---|
//! | `openai-chat`, `ollama`, `cohere` | an assistant message with its calls and all their results; any other message by itself |
//! | `openai-responses` | what the model put out in one go, reasoning first, with the outputs of all its calls wherever they stand; any other item by itself |
//! | `anthropic`, `gemini`, `ai-sdk`, `ai-sdk-ui`, `langchain` | a message of the user; a step: what the assistant said and the results that follow. It needs the message of the user that opens its turn |
//! | `bedrock` | what opens a turn with what ends it, since roles must alternate; a step between them: calls with their results. It needs the message that opens its turn |
//! | `items`, `items-jsonl` | an item |
//!
//! A message of the user that holds results as well as words belongs to the step that it answers. In
//! the last turn, a step that begins without thinking needs the step before it that began with it. With
//! [`CandidateOptions::whole_turns`], a turn is a bundle in the formats that know steps, but for the last
//! one; with [`CandidateOptions::alternate`] in every format: then no window has two messages of the user
//! in a row.
//!
//! # What is derived
//!
//! | in the request | kind | pinned | tags |
//! |---|---|---|---|
//! | `system`, `instructions`, `systemInstruction` | `SystemPrompt` | always | `role:system` |
//! | `tools`, `functions` | `ToolDefinition` | always | `role:tools` |
//! | the schema of the answer, other [`COUNTED_SETTINGS`] beside the messages | `SystemPrompt` | always | `role:other` |
//! | message of role system or developer | `SystemPrompt` | before all others | `role:system` |
//! | message of the user (`user`, `human`) | `Message`, or `Document` if most of it is documents | the last one | `role:user`, `speaker:NAME` |
//! | message of the assistant (`assistant`, `model`, `ai`) | `Message` | if it ends the request | `role:assistant`, `speaker:NAME` |
//! | calls with their results | `ToolOutput` | if they end the request | `role:assistant`, `role:tool`, `tool:NAME`, `call:ID` |
//! | several messages | what most of its tokens are | no | those of its messages |
//! | `item_reference`, `compaction`, output without a call of a stored response | as above | always | as above |
//! | `additional_tools`, `tools` in the input | `SystemPrompt` | always | `role:system` |
//! | item | its own | its own | its own |
//! | MCP `annotations` on a message, a block or an item | – | `priority` 1 | `audience:NAME` |
//! | `"cupel": {"rule": true}` on the same | – | always | – |
//! | `session_id`, `session`, `thread_id`, `conversation_id` | – | – | `session:ID` |
//!
//! **The question** of a request, [`Request::query`], is what the user last said, in their own words:
//! nothing that came after it, and nothing that a tool answered. [`Candidates::last_user_turn`] and
//! [`Candidates::since_last_user_turn`] say where it is and what an agent did since.
//!
//! **Pins.** What the user said last is pinned, and so is the end of the request, which the model has
//! to go on from. [`CandidateOptions::pins`] adds to that by index, role, field or words; a pinned message
//! pins its bundle, and a pin that matches nothing is an error. A marker for the cache is no pin.
//! [`CandidateOptions::rules`] keeps messages of the system and the user that state a [`Rule`]; nobody has to.
//!
//! **Priority** is that of MCP annotations, from 0 to 100; the highest in the bundle counts.
//!
//! **Time** is the newest `timestamp`, `created_at`, `createdAt`, `created`, `createTime` or
//! `create_time` of the bundle's messages (for LangChain also of `additional_kwargs`,
//! `response_metadata` and `metadata`), or `lastModified` of its annotations: RFC 3339, or seconds or
//! milliseconds since 1970. Order and time never disagree: a bundle without a time, or with one that
//! is not after the bundle before it, follows that one by a millisecond. If no message has a time,
//! bundles are a second apart from 1970 on. Items have the times that they are given; only if none
//! has one, their order stands in.
//!
//! **Text** is what the model reads: the texts of all messages, line by line, calls as name and
//! arguments. Equal texts are duplicates to the pipeline, whose policy decides about them. Images
//! and attachments have a name that differs where they differ.
//!
//! **Tokens** are those of texts, calls, results, images and definitions, and what the provider
//! counts beside them ([`cupel_tokens::Overheads`]). What the answer begins with counts as part of the
//! last user turn. Documents count by their pages, sound and films by their seconds, text files by
//! their text, and where none of that can be known, by a bound: ten pages or five minutes if a file
//! is only named, else by its size ([`cupel_tokens::AttachmentRule`]); then [`Candidates::is_estimate`] says so. **No text of a
//! message is free**: one in a field that no rule knows counts as well, but for [`UNCOUNTED_FIELDS`]. Beside the
//! messages [`COUNTED_SETTINGS`] count, and nothing else. Reasoning that is encrypted counts as nothing, since the service leaves it
//! out again once the turn is over.
//!
//! # Rules
//!
//! In these tables, "goes" holds only with [`RepairMode::Drop`], unless the message is empty.
//!
//! | rule | what is wrong | repair |
//! |---|---|---|
//! | `orphan-result` | a result without its call | gets the id of the one call before it that lacks a result, or goes |
//! | `unanswered-call` | a call without its result | goes, with what belongs to it |
//! | `result-before-call`, `result-not-adjacent` | a result that does not follow its call | moves behind it |
//! | `duplicate-result` | a second result of one call | goes |
//! | `duplicate-call-id` | an id that several calls have | the later call goes |
//! | `missing-call-id` | a call or result without an id | gets one, by order and name; or goes |
//! | `result-not-first` | Anthropic: something before the results | results move to the front |
//! | `misplaced-block` | a call in a message of the user, a result in one of the assistant | goes |
//! | `first-not-user` | Anthropic: something before the first message of the user | goes |
//! | `system-message` | Anthropic: a system prompt among the messages, of a model that does not take it, or not behind a message of the user | by hand |
//! | `empty-text` | Anthropic: a text without letters | goes |
//! | `trailing-space` | Anthropic: the beginning of the answer ends in white space | by hand |
//! | `thinking-last` | Anthropic: a message that ends with thinking | the thinking goes |
//! | `missing-thinking` | Anthropic, thinking enabled: the last turn begins without it | steps before the first thinking go |
//! | `response-count` | Gemini: not as many responses as calls | both go |
//! | `call-turn-position` | Gemini: calls that follow neither the user nor responses | go |
//! | `reasoning-without-follower` | Responses: reasoning without what it led to | goes |
//! | `unknown-role`, `missing-role` | a role that the format does not know | by hand |
//! | `missing-content`, `message-type` | a message without content; something that is no message | goes |
//! | `unknown-block` | a call, a result or a file that the format does not know | by hand |
//! | `content-type`, `calls-type`, `tools-type` | something else where a text or list must be | by hand |
//! | `no-messages` | an empty request | by hand |
//! | `consecutive-user` | with [`CandidateOptions::alternate`]: the user speaks twice in a row | by hand |

mod again;
mod alternate;
mod annotations;
mod assemble;
mod bundle;
mod cache_marks;
mod candidates;
mod conversation;
mod derive;
mod detect;
mod document;
mod error;
mod evidence;
mod file;
mod fingerprint;
mod foreign;
mod format;
mod grouping;
mod json;
mod known;
mod message;
mod pairing;
mod path;
mod pin;
mod place;
mod render;
mod repair;
mod request;
mod rest;
mod rule;
mod shorten;
#[cfg(test)]
mod testing;
mod text;
mod tools;
mod transcript;
mod uncounted;
mod validate;
mod view;
mod weigh;

pub use bundle::Bundle;
pub use cache_marks::{CacheMarks, MovedMark, without_cache_marks};
pub use candidates::{CandidateOptions, Candidates};
pub use error::ChatError;
#[doc(hidden)]
pub use file::decode_base64;
pub use format::{Format, UnknownFormat};
pub use grouping::PinReason;
pub use pin::{ParsePinError, Pin};
pub use repair::{Repair, RepairMode};
pub use request::Request;
pub use rule::{Rule, Statement};
pub use shorten::{Edit, OwnRendering, Shortenable, Shortening, Target, Unused};
pub use tools::{Tool, ToolForm, ToolNeed, ToolStep};
pub use transcript::{
    ImportedRequest, ListedConversation, Pick, TranscriptError, TranscriptKind,
    UnknownTranscriptKind,
};
pub use uncounted::{COUNTED_SETTINGS, UNCOUNTED_FIELDS};
pub use validate::Violation;
pub use view::MessageView;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
