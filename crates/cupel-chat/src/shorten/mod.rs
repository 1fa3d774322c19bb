//! Shorter forms of bundles, and how they are written.

mod place;
mod states;

use std::ops::Range;
use std::sync::Arc;

use cupel::slicer::Form;
use cupel::{ContextItem, CupelError, Draft, Original, Renderer, Rendering};
use cupel_renderings::handle;
use cupel_tokens::TokenCounter;

use self::place::Place;
use crate::derive::{TypedText, content_with};
use crate::message::Piece;
use crate::text::range_in;
use crate::{Candidates, Request};

/// A shorter text of the caller for one that stands somewhere in the request.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnRendering {
    /// Instead of what.
    pub target: Target,
    /// The [`handle`] of the text that it stands for. If the text is another one now,
    /// this is not used.
    pub hash: Option<String>,
    /// Name of the form, as `summary`.
    pub name: String,
    /// Its text.
    pub content: String,
    /// Tokens, where the caller knows better than the counter.
    pub tokens: Option<i64>,
    /// The share of the text's value that it keeps, if somebody knows.
    pub share: Option<f64>,
}

/// A text of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// Text of the message at this index.
    Message(usize),
    /// The answer to the call of this id.
    Call(String),
}

/// Renderers and options for shortening.
#[derive(Clone, Copy)]
pub struct Shortening<'s> {
    /// Makes forms of what tools answered.
    pub renderers: &'s [&'s dyn Renderer],
    /// Forms that the caller made.
    pub own: &'s [OwnRendering],
    /// True if only what is pinned gets forms.
    pub only_pinned: bool,
}

/// A place at which a form differs from the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edit {
    /// The index of the message.
    pub message: usize,
    /// The tool whose answer it is; empty for words of the assistant.
    pub tool: String,
    /// Name of the form.
    pub name: String,
    /// Tokens of the whole text.
    pub tokens_before: i64,
    /// Tokens of the form.
    pub tokens_after: i64,
    /// By what the original can be [asked for](Request::original).
    pub handle: String,
    /// Whole text. All forms of it share it.
    pub original: Arc<str>,
    /// Text that the model reads instead.
    pub text: String,
    /// Replacements in the text of the request, ascending.
    splices: Vec<(Range<usize>, String)>,
}

impl Candidates {
    /// Gives bundles shorter forms: their items get [renderings](cupel::ContextItem::renderings), and
    /// [`render_forms`](Self::render_forms) writes them.
    ///
    /// Only what tools answered is shortened, and what the assistant says where the caller brings
    /// words for it. Ids, calls, thinking, the user's words, system prompts and definitions stay as
    /// they are. Returns which of the caller's own forms were of no use, by position, and why.
    pub fn shorten(
        &mut self,
        shortening: &Shortening<'_>,
        counter: &dyn TokenCounter,
    ) -> Vec<(usize, Unused)> {
        let mut texts = self.texts(shortening);
        let whole: Vec<&str> = texts.iter().map(|text| text.place.whole()).collect();
        for (at, tokens) in counter.count_all(&whole).into_iter().enumerate() {
            texts[at].tokens = tokens;
        }
        let unused = take_own(shortening.own, &mut texts);
        for renderer in shortening.renderers {
            for text in &mut texts {
                text.render(*renderer);
            }
        }
        count_drafts(&mut texts, counter);
        let mut own = unused;
        for text in &mut texts {
            text.forget_longer(&mut own);
        }
        for of_one in texts.chunk_by(|a, b| a.candidate == b.candidate) {
            self.take_forms(of_one);
        }
        own.into_iter().enumerate().filter_map(|(at, why)| Some((at, why?))).collect()
    }

    /// Gives what the assistant says in one candidate shorter forms, unless it has some. For the reply that the last
    /// turn answers; see [`shorten`](Self::shorten) for all else.
    pub fn shorten_words(
        &mut self,
        candidate: usize,
        renderer: &dyn Renderer,
        counter: &dyn TokenCounter,
    ) {
        let Some(bundle) = self.bundles.get(candidate) else { return };
        if !self.items[candidate].renderings().is_empty() {
            return;
        }
        let conversation = self.request.conversation();
        let places = bundle.messages.iter().flat_map(|at| Place::of(conversation, *at));
        let spoken = places.filter(|place| place.is_spoken);
        let mut texts: Vec<Shortened> =
            spoken.map(|place| Shortened::whole(candidate, place)).collect();
        for text in &mut texts {
            text.tokens = counter.count(text.place.whole());
            text.draft(renderer);
        }
        count_drafts(&mut texts, counter);
        for text in &mut texts {
            text.forget_longer(&mut []);
        }
        self.take_forms(&texts);
    }

    /// The texts that may have forms, in the order of the candidates.
    fn texts(&self, shortening: &Shortening<'_>) -> Vec<Shortened> {
        let conversation = self.request.conversation();
        let mut texts = Vec::new();
        for (candidate, (item, bundle)) in self.items.iter().zip(&self.bundles).enumerate() {
            // Whoever brings items brings their forms, too.
            let is_wanted = item.pinned() || !shortening.only_pinned;
            if is_wanted && item.renderings().is_empty() {
                let places = bundle.messages.iter().flat_map(|at| Place::of(conversation, *at));
                texts.extend(places.map(|place| Shortened::whole(candidate, place)));
            }
        }
        texts
    }

    /// Takes the forms of a bundle's texts, all of which are this candidate's.
    fn take_forms(&mut self, texts: &[Shortened]) {
        let (candidate, whole) = match texts.first() {
            Some(text) => (text.candidate, self.items[text.candidate].tokens()),
            None => return,
        };
        let texts: Vec<&Shortened> = texts.iter().filter(|text| !text.forms.is_empty()).collect();
        if texts.is_empty() {
            return;
        }
        let forms: Vec<Vec<Form>> = texts.iter().map(|text| text.all_forms()).collect();
        let mut renderings = Vec::new();
        for state in states::states(&forms) {
            let parts: Vec<(&Shortened, usize)> = texts
                .iter()
                .zip(&state)
                .filter_map(|(text, form)| Some((*text, form.rendering?)))
                .collect();
            let edits: Vec<Edit> =
                parts.iter().map(|(text, form)| text.edit(&self.request, *form)).collect();
            let text = self.text_of(candidate, &parts);
            let draft = self.draft(candidate, text.content, &parts, &edits);
            let saved = |edit: &Edit| edit.tokens_before - edit.tokens_after;
            let tokens = whole - edits.iter().map(saved).sum::<i64>();
            if let Ok(rendering) = draft.counted(tokens.max(0)) {
                renderings.push(rendering.with_parts(text.parts));
                self.bundles[candidate].forms.push(edits);
            }
        }
        self.items[candidate] = self.items[candidate].with_renderings(renderings);
    }

    /// The text of a bundle with some of its texts in shorter forms.
    fn text_of(&self, candidate: usize, parts: &[(&Shortened, usize)]) -> TypedText {
        let instead = |piece: &Piece| {
            let part = parts.iter().find(|(text, _)| text.place.is(piece));
            part.map(|(text, form)| text.reads(*form))
        };
        let messages = &self.bundles[candidate].messages;
        content_with(self.request.conversation(), messages, instead)
    }

    fn draft(
        &self,
        candidate: usize,
        content: String,
        parts: &[(&Shortened, usize)],
        edits: &[Edit],
    ) -> Draft {
        let least = |(text, form): &(&Shortened, usize)| text.forms[*form].least_share_of_budget();
        Draft {
            name: name_of(edits),
            content,
            share: share_of(parts, self.items[candidate].tokens()),
            only_above: parts.iter().filter_map(least).reduce(f64::max),
        }
    }

    /// The request with nothing but these candidates, each in one of its forms: which of its item's
    /// renderings, or `None` for the whole. As [`render`](Self::render) where all are whole.
    pub fn render_forms(&self, kept: &[(usize, Option<usize>)]) -> String {
        let positions: Vec<usize> = kept.iter().map(|(at, _)| *at).collect();
        let edits = self.edits(kept);
        let text = self.request.text();
        self.request.splice().compose(self.kept_messages(&positions), |index, element, out| {
            push_edited(out, text, element, edits.iter().filter(|edit| edit.message == index));
        })
    }

    /// The messages that are not what they were in these forms: their indices, and how they are
    /// written now.
    pub fn rewritten(&self, kept: &[(usize, Option<usize>)]) -> Vec<(usize, String)> {
        let (edits, text) = (self.edits(kept), self.request.text());
        let messages = &self.request.conversation().messages;
        let written = |edits: &[&Edit]| {
            let index = edits.first()?.message;
            let element = &text[messages.get(index)?.json.range_in(text)];
            let mut out = String::with_capacity(element.len());
            push_edited(&mut out, text, element, edits.iter());
            Some((index, out))
        };
        edits.chunk_by(|a, b| a.message == b.message).filter_map(written).collect()
    }

    /// Where these candidates differ from the whole in these forms, in the order of the request.
    pub fn edits(&self, kept: &[(usize, Option<usize>)]) -> Vec<&Edit> {
        let of = |(at, form): &(usize, Option<usize>)| {
            let forms = &self.bundles.get(*at)?.forms;
            form.and_then(|form| forms.get(form))
        };
        let mut edits: Vec<&Edit> = kept.iter().filter_map(of).flatten().collect();
        edits.sort_by_key(|edit| edit.splices.first().map(|(range, _)| range.start));
        edits
    }
}

/// A part of the request's text with these edits.
fn push_edited<'e>(
    out: &mut String,
    text: &str,
    element: &str,
    edits: impl Iterator<Item = &'e &'e Edit>,
) {
    let Some(span) = range_in(text, element) else { return out.push_str(element) };
    let mut from = span.start;
    for (range, written) in edits.flat_map(|edit| &edit.splices) {
        out.push_str(&text[from..range.start]);
        out.push_str(written);
        from = range.end;
    }
    out.push_str(&text[from..span.end]);
}

/// The share of its value that a bundle of so many tokens keeps: what a text is worth is its share of
/// the tokens.
fn share_of(parts: &[(&Shortened, usize)], whole: i64) -> f64 {
    let lost = |(text, form): &(&Shortened, usize)| {
        text.tokens as f64 * (1.0 - text.forms[*form].share_of(text.tokens))
    };
    (1.0 - parts.iter().map(lost).sum::<f64>() / whole.max(1) as f64).clamp(0.0, 1.0)
}

/// Name of a bundle's form: as its texts', `3 × stub, json 18 %`.
fn name_of(edits: &[Edit]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for edit in edits {
        match counts.iter_mut().find(|(name, _)| *name == edit.name) {
            Some((_, count)) => *count += 1,
            None => counts.push((&edit.name, 1)),
        }
    }
    let names = counts.into_iter().map(|(name, count)| match count {
        1 => name.to_owned(),
        _ => format!("{count} × {name}"),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// A text of a request that a shorter one may stand in for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shortenable {
    /// The index of the message.
    pub message: usize,
    /// The id of the call that it answers; empty for words of the assistant.
    pub call: String,
    /// The tool whose answer it is; empty for words of the assistant.
    pub tool: String,
    /// By what it can be [asked for](Request::original).
    pub handle: String,
    /// The text.
    pub text: String,
}

impl Shortenable {
    fn of(place: &Place) -> Self {
        Self {
            message: place.message,
            call: place.id.to_string(),
            tool: place.tool.to_string(),
            handle: handle(&place.text),
            text: place.text.to_string(),
        }
    }
}

/// Why one of the caller's own forms is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unused {
    /// There is no such text, or it may not be changed.
    NoTarget,
    /// The text is not the one that it was made for.
    Changed,
    /// It is not shorter.
    NotShorter,
}

impl Unused {
    /// The reason in a few words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::NoTarget => "there is no text there that may be changed",
            Self::Changed => "the text was changed since it was made",
            Self::NotShorter => "it is not shorter than the whole",
        }
    }
}

impl Request {
    /// The texts that may be shortened, in the order of the request.
    #[must_use]
    pub fn shortenable(&self) -> Vec<Shortenable> {
        let conversation = self.conversation();
        let places = (0..conversation.messages.len()).flat_map(|at| Place::of(conversation, at));
        places.map(|place| Shortenable::of(&place)).collect()
    }

    /// The whole text of which this is the [`handle`].
    #[must_use]
    pub fn original(&self, wanted: &str) -> Option<String> {
        let conversation = self.conversation();
        let places = (0..conversation.messages.len()).flat_map(|at| Place::of(conversation, at));
        let mut texts = places.map(|place| place.text);
        texts.find(|text| handle(text) == wanted).map(|text| text.to_string())
    }
}

/// A text of a candidate, with its shorter forms.
struct Shortened {
    candidate: usize,
    place: Place,
    tokens: i64,
    drafts: Vec<Drafted>,
    forms: Vec<Rendering>,
    /// The text and its handle, once for all forms; made when there are any.
    original: Arc<str>,
    handle: String,
}

/// A form that may not be counted yet.
struct Drafted {
    name: String,
    content: String,
    share: Option<f64>,
    only_above: Option<f64>,
    tokens: Option<i64>,
    /// Which of the caller's own it is.
    own: Option<usize>,
}

impl Shortened {
    fn whole(candidate: usize, place: Place) -> Self {
        Self {
            candidate,
            place,
            tokens: 0,
            drafts: Vec::new(),
            forms: Vec::new(),
            original: Arc::default(),
            handle: String::new(),
        }
    }

    fn render(&mut self, renderer: &dyn Renderer) {
        if !self.place.is_spoken {
            self.draft(renderer);
        }
    }

    fn draft(&mut self, renderer: &dyn Renderer) {
        let original = Original::new(&self.place.text, self.tokens).from_tool(&self.place.tool);
        let drafts = renderer.render(&original).into_iter();
        self.drafts.extend(drafts.map(|Draft { name, content, share, only_above }| Drafted {
            name,
            content,
            share: Some(share),
            only_above,
            tokens: None,
            own: None,
        }));
    }

    /// Keeps of the drafts those that are shorter, and says which of the caller's are not.
    fn forget_longer(&mut self, own: &mut [Option<Unused>]) {
        for drafted in std::mem::take(&mut self.drafts) {
            let number = drafted.own;
            let is_shorter = drafted.tokens.is_some_and(|tokens| tokens < self.tokens);
            let form = if is_shorter { drafted.rendering().ok() } else { None };
            if let (Some(number), None) = (number, &form) {
                own[number] = Some(Unused::NotShorter);
            }
            self.forms.extend(form);
        }
        if !self.forms.is_empty() {
            self.original = (&*self.place.text).into();
            self.handle = handle(&self.place.text);
        }
    }

    /// The forms that make sense, the whole among them. Which of them are offered at a budget is for
    /// later.
    fn all_forms(&self) -> Vec<Form> {
        Form::of(&self.forms, self.tokens, 0)
    }

    /// Text that the model reads in a form.
    fn reads(&self, form: usize) -> String {
        self.place.read(self.forms[form].content())
    }

    fn edit(&self, request: &Request, form: usize) -> Edit {
        let rendering = &self.forms[form];
        let written = self.place.written(rendering.content());
        Edit {
            message: self.place.message,
            tool: self.place.tool.to_string(),
            name: rendering.name().to_owned(),
            tokens_before: self.tokens,
            tokens_after: rendering.tokens(),
            handle: self.handle.clone(),
            original: Arc::clone(&self.original),
            text: self.reads(form),
            splices: vec![(self.place.range_in(request.text()), written)],
        }
    }
}

impl Drafted {
    fn rendering(self) -> Result<Rendering, CupelError> {
        let mut form = Rendering::new(self.name, self.content, self.tokens.unwrap_or_default())?;
        if let Some(share) = self.share {
            form = form.with_share(share)?;
        }
        if let Some(share) = self.only_above {
            form = form.only_above(share)?;
        }
        Ok(form)
    }
}

/// Gives the caller's own forms to the texts that they are for, and says which are of no use.
fn take_own(own: &[OwnRendering], texts: &mut [Shortened]) -> Vec<Option<Unused>> {
    let give = |(number, own): (usize, &OwnRendering)| {
        let is_meant = |text: &&mut Shortened| match &own.target {
            Target::Message(message) => text.place.message == *message,
            Target::Call(id) => text.place.id == id.as_str(),
        };
        let Some(text) = texts.iter_mut().find(is_meant) else { return Some(Unused::NoTarget) };
        if own.hash.as_ref().is_some_and(|hash| *hash != handle(&text.place.text)) {
            return Some(Unused::Changed);
        }
        text.drafts.push(Drafted {
            name: own.name.clone(),
            content: own.content.clone(),
            share: own.share,
            only_above: None,
            tokens: own.tokens,
            own: Some(number),
        });
        None
    };
    own.iter().enumerate().map(give).collect()
}

fn count_drafts(texts: &mut [Shortened], counter: &dyn TokenCounter) {
    let uncounted = |drafted: &&Drafted| drafted.tokens.is_none();
    let read = |text: &Shortened| -> Vec<String> {
        let drafts = text.drafts.iter().filter(uncounted);
        drafts.map(|drafted| text.place.read(&drafted.content)).collect()
    };
    let reads: Vec<String> = texts.iter().flat_map(read).collect();
    let reads: Vec<&str> = reads.iter().map(String::as_str).collect();
    let mut counts = counter.count_all(&reads).into_iter();
    let drafts = texts.iter_mut().flat_map(|text| &mut text.drafts);
    for drafted in drafts.filter(|drafted| drafted.tokens.is_none()) {
        drafted.tokens = counts.next();
    }
}

/// Edits that write the renderings of an item of Cupel's own: another content, and its tokens where
/// the item has them.
pub(crate) fn forms_of_item(
    request: &Request,
    message: usize,
    item: &ContextItem,
) -> Vec<Vec<Edit>> {
    let object = request.conversation().messages[message].json.view().object().unwrap_or_default();
    let range = |name: &str| object.get(name).map(|json| json.span_in(request.text()));
    let edit = |form: &Rendering| {
        let content = range("content")
            .map(|range| (range, serde_json::Value::from(form.content()).to_string()));
        let tokens = range("tokens").map(|range| (range, form.tokens().to_string()));
        let mut splices: Vec<(Range<usize>, String)> = content.into_iter().chain(tokens).collect();
        splices.sort_by_key(|(range, _)| range.start);
        vec![Edit {
            message,
            tool: String::new(),
            name: form.name().to_owned(),
            tokens_before: item.tokens(),
            tokens_after: form.tokens(),
            handle: handle(item.content()),
            original: item.content().into(),
            text: form.content().to_owned(),
            splices,
        }]
    };
    item.renderings().iter().map(edit).collect()
}
