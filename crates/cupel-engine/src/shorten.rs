//! Shorter forms of what a request holds: which are made, and what became of them.

use cupel::{ContextBudget, Draft, Original, Renderer, ShortenDescription};
use cupel_chat::{Candidates, Edit, OwnRendering, Shortening, Target};
use cupel_renderings::{Reply, Shorten, Shortened, handle, value_count};
use cupel_tokens::TokenCounter;
use serde::{Deserialize, Serialize};

use crate::engine::Settings;
use crate::prepare::{Chosen, least_pinned_tokens, tokens_of};
use crate::{Options, Prepared};

/// A text of the window that is shorter than it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ShortenedText {
    /// The index of its message in the request's own list.
    pub message: usize,
    /// The tool whose answer it is; empty for words of the assistant.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Name of the form, as in `json 18 %`.
    pub name: String,
    /// Tokens of the whole text.
    pub tokens_before: i64,
    /// Tokens of the shorter text.
    pub tokens_after: i64,
    /// Number of values in the whole text, where it is JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values_before: Option<usize>,
    /// Number of values that are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values_after: Option<usize>,
    /// By what the original can be asked for: see [`Engine::original`](crate::Engine::original).
    pub handle: String,
}

/// A form that the caller made, and that is of no use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnusedRendering {
    /// Its position in the list that was given.
    pub position: usize,
    /// Target, as in `message 4` or `call toolu_1`.
    pub target: String,
    /// Why it is of no use.
    pub why: String,
}

impl std::fmt::Display for UnusedRendering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the rendering of {} is not used: {}", self.target, self.why)
    }
}

/// Maker of shorter forms.
pub(crate) struct Shortener<'s> {
    /// Texts that are shortened; `None` if nobody says.
    what: Option<Shorten>,
    /// Renderer of the caller.
    renderer: Option<&'s dyn Renderer>,
    own: &'s [OwnRendering],
    /// True if forms end with the handle of the whole.
    handles: bool,
}

/// Before the handle at the end of a form.
const WHOLE: &str = "\n[whole: ";

/// Forms that end with the handle of the whole.
struct Handled<'r> {
    renderer: &'r dyn Renderer,
    handles: bool,
}

impl Renderer for Handled<'_> {
    fn render(&self, original: &Original<'_>) -> Vec<Draft> {
        let drafts = self.renderer.render(original);
        if !self.handles || drafts.is_empty() {
            return drafts;
        }
        let handle = handle(original.text);
        let handled = drafts.into_iter().map(|mut draft| {
            // Minified JSON lacks nothing, and a stub has the handle already.
            if draft.name != "json minified" && !draft.content.contains(&handle) {
                draft.content = format!("{}{WHOLE}{handle}]", draft.content);
            }
            draft
        });
        handled.filter(|draft| draft.content.len() < original.text.len()).collect()
    }
}

/// A form without the handle at its end.
fn without_handle(form: &str) -> &str {
    form.rsplit_once(WHOLE).map_or(form, |(form, _)| form)
}

impl<'s> Shortener<'s> {
    pub(crate) fn new(settings: &'s Settings, options: &'s Options) -> Self {
        let of_policy = settings.policy.description().shorten.map(|shorten| match shorten {
            ShortenDescription::Off => Shorten::Off,
            ShortenDescription::Json => Shorten::Json,
            ShortenDescription::All => Shorten::All,
        });
        let what = options.shorten.or(settings.shorten).or(of_policy);
        let (renderer, handles) = (settings.renderer.as_deref(), settings.handles);
        Self { what, renderer, own: &options.renderings, handles }
    }

    /// Returns true if somebody said that nothing may be shorter than it is.
    pub(crate) fn is_off(&self) -> bool {
        self.what == Some(Shorten::Off)
    }

    /// Gives the reply that the last turn refers to a shorter form.
    pub(crate) fn shorten_reply(
        &self,
        candidates: &mut Candidates,
        reply: usize,
        counter: &dyn TokenCounter,
    ) {
        candidates.shorten_words(reply, &self.handled(&Reply), counter);
    }

    fn handled<'r>(&self, renderer: &'r dyn Renderer) -> Handled<'r> {
        Handled { renderer, handles: self.handles }
    }

    /// Gives candidates the forms that were asked for.
    pub(crate) fn shorten(
        &self,
        candidates: &mut Candidates,
        counter: &dyn TokenCounter,
    ) -> Vec<UnusedRendering> {
        let what = self.what.unwrap_or(Shorten::Off);
        if what == Shorten::Off && self.own.is_empty() && self.renderer.is_none() {
            return Vec::new();
        }
        let built_in = Shortened::new(what);
        let all = self.renderer.into_iter().chain([&built_in as &dyn Renderer]);
        let handled: Vec<Handled<'_>> = all.map(|renderer| self.handled(renderer)).collect();
        let renderers: Vec<&dyn Renderer> =
            handled.iter().map(|renderer| renderer as &dyn Renderer).collect();
        let shortening = Shortening { renderers: &renderers, own: self.own, only_pinned: false };
        let unused = candidates.shorten(&shortening, counter);
        let told = unused.into_iter().map(|(position, why)| UnusedRendering {
            position,
            target: target(&self.own[position].target),
            why: why.text().to_owned(),
        });
        told.collect()
    }

    /// Where nobody says otherwise, JSON is shortened if what must be kept does not fit whole.
    pub(crate) fn rescue(
        &self,
        candidates: &mut Candidates,
        budget: &ContextBudget,
        counter: &dyn TokenCounter,
    ) {
        let room = budget.target_tokens().min(budget.max_tokens() - budget.output_reserve());
        let items = candidates.items();
        let pinned = tokens_of(items.iter().filter(|item| item.pinned()));
        if self.what.is_some() || pinned <= room || least_pinned_tokens(items) <= room {
            return;
        }
        let renderer = Shortened::new(Shorten::Json);
        let renderer = self.handled(&renderer);
        let shortening = Shortening { renderers: &[&renderer], own: &[], only_pinned: true };
        candidates.shorten(&shortening, counter);
    }
}

fn target(target: &Target) -> String {
    match target {
        Target::Message(index) => format!("message {index}"),
        Target::Call(id) => format!("call {id}"),
    }
}

impl Prepared {
    /// Texts that are shorter in these forms.
    pub(crate) fn shortened(&self, kept: &[Chosen]) -> Vec<ShortenedText> {
        self.candidates().edits(kept).into_iter().map(shortened_text).collect()
    }
}

fn shortened_text(edit: &Edit) -> ShortenedText {
    let values_before = value_count(&edit.original);
    ShortenedText {
        message: edit.message,
        tool: edit.tool.clone(),
        name: edit.name.clone(),
        tokens_before: edit.tokens_before,
        tokens_after: edit.tokens_after,
        values_after: values_before.and_then(|_| value_count(without_handle(&edit.text))),
        values_before,
        handle: edit.handle.clone(),
    }
}
