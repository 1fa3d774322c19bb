//! Tokens of each part of a request.

use cupel_tokens::{Overheads, TokenCounter};

use crate::conversation::Fixed;
use crate::file::{File, Opened};
use crate::message::{Content, Message, Nature, Piece};

/// The tokens of a bundle.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) total: i64,
    /// Tokens of it that are answers of tools.
    pub(crate) answers: i64,
    /// Tokens of it that are documents.
    pub(crate) documents: i64,
    /// True if some of it could not be counted.
    pub(crate) is_estimate: bool,
}

impl Weight {
    fn add(&mut self, nature: Nature, tokens: i64) {
        self.total = self.total.saturating_add(tokens);
        match nature {
            Nature::Words | Nature::Thought | Nature::Tool | Nature::Arguments | Nature::Aside => {}
            Nature::Answer => self.answers = self.answers.saturating_add(tokens),
            Nature::Document => self.documents = self.documents.saturating_add(tokens),
        }
    }
}

/// Collects texts, so that they are counted all at once.
pub(crate) struct Scale<'a> {
    overheads: &'a Overheads,
    counter: &'a dyn TokenCounter,
    weights: Vec<Weight>,
    texts: Vec<&'a str>,
    /// For each text, whose weight it adds to, and as what.
    owners: Vec<(usize, Nature)>,
}

impl<'a> Scale<'a> {
    pub(crate) fn new(overheads: &'a Overheads, counter: &'a dyn TokenCounter) -> Self {
        let (weights, texts, owners) = (Vec::new(), Vec::new(), Vec::new());
        Self { overheads, counter, weights, texts, owners }
    }

    /// Puts a fixed part on the scale.
    pub(crate) fn put_fixed(&mut self, fixed: &'a Fixed) {
        self.weights.push(Weight::default());
        self.put_pieces(&fixed.pieces);
        if fixed.definitions.is_empty() {
            return;
        }
        let values: Result<Vec<serde_json::Value>, _> =
            fixed.definitions.iter().map(|tool| serde_json::from_str(tool.view().raw())).collect();
        let Ok(values) = values else {
            // Nested too deep, or too large a number: counted as it is written.
            for tool in &fixed.definitions {
                self.put_text(Nature::Words, tool.view().raw());
            }
            return;
        };
        self.put(Nature::Words, self.overheads.tools_tokens(&values, self.counter));
    }

    /// Puts messages on the scale, as one weight.
    pub(crate) fn put_messages(&mut self, messages: impl Iterator<Item = &'a Message>) {
        self.weights.push(Weight::default());
        let overheads = self.overheads;
        for message in messages {
            self.put(Nature::Words, overheads.per_message);
            if let Some(name) = &message.speaker {
                self.put(Nature::Words, overheads.per_name);
                self.put_text(Nature::Words, name);
            }
            self.put_pieces(&message.pieces);
            for call in &message.calls {
                self.put(Nature::Words, overheads.per_tool_call);
                self.put_text(Nature::Words, &call.name);
                self.put_text(Nature::Words, &call.arguments);
            }
            for _ in &message.answers {
                self.put(Nature::Answer, overheads.per_tool_result);
            }
        }
    }

    /// Puts on the scale what weighs as it did.
    pub(crate) fn put_known(&mut self, weight: Weight) {
        self.weights.push(weight);
    }

    /// All weights, in the order in which they were put.
    pub(crate) fn weigh(mut self) -> Vec<Weight> {
        let counts = self.counter.count_all(&self.texts);
        for (tokens, (owner, nature)) in counts.into_iter().zip(&self.owners) {
            self.weights[*owner].add(*nature, tokens);
        }
        self.weights
    }

    fn put_pieces(&mut self, pieces: &'a [Piece]) {
        for piece in pieces {
            match &piece.content {
                Content::Text(text) => self.put_text(piece.nature, text),
                Content::Image(image, _) => {
                    self.put(piece.nature, self.overheads.image_tokens(image));
                }
                Content::File(file, _) => self.put_file(piece.nature, file),
                Content::Opaque(_) => self.mark_as_estimate(),
            }
        }
    }

    /// A file counts as its text, or by the provider's rule.
    fn put_file(&mut self, nature: Nature, file: &'a File) {
        match file.open() {
            Opened::Text(text) => self.put_text(nature, text),
            Opened::Attachment(attachment) => {
                self.put(nature, self.overheads.attachment_tokens(attachment));
                self.mark_as_estimate();
            }
        }
    }

    fn mark_as_estimate(&mut self) {
        if let Some(weight) = self.weights.last_mut() {
            weight.is_estimate = true;
        }
    }

    fn put_text(&mut self, nature: Nature, text: &'a str) {
        self.texts.push(text);
        self.owners.push((self.weights.len().saturating_sub(1), nature));
    }

    fn put(&mut self, nature: Nature, tokens: i64) {
        if let Some(weight) = self.weights.last_mut() {
            weight.add(nature, tokens);
        }
    }
}
