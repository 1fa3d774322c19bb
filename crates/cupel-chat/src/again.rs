//! Messages that were read before: in a conversation that grows, nearly all of them.

use std::sync::Arc;

use crate::Request;
use crate::conversation::Conversation;
use crate::json::Json;
use crate::message::{Answer, Call, Content, Extras, IdPlace, Message, Piece, Served};

/// The text that a message stands in now, and how far into it.
#[derive(Clone, Copy)]
pub(crate) struct Home<'t> {
    pub(crate) text: &'t Arc<str>,
    /// Where it began, and where it begins now.
    pub(crate) old: usize,
    pub(crate) new: usize,
}

/// A request that was read before, for one that may have messages in common with it.
#[derive(Clone, Copy)]
pub(crate) struct Earlier<'t> {
    pub(crate) request: &'t Request,
    /// The text that is read now.
    pub(crate) text: &'t Arc<str>,
}

impl Earlier<'_> {
    /// The message at this place, if it is written as it was; one with flaws is read again.
    pub(crate) fn message(&self, list: &str, at: usize, json: Json<'_>) -> Option<Message> {
        let conversation: &Conversation = self.request.conversation();
        let known = conversation.messages.get(at).filter(|_| conversation.list == list)?;
        if known.json.view().raw() != json.raw() {
            return None;
        }
        let old = known.json.range_in(self.request.text()).start;
        known.moved(Home { text: self.text, old, new: json.span_in(self.text).start })
    }
}

impl Request {
    /// Number of messages at the beginning that are written as they are in an earlier request.
    pub(crate) fn known_messages(&self, earlier: &Self) -> usize {
        let (new, old) = (self.conversation(), earlier.conversation());
        let pairs = new.messages.iter().zip(&old.messages);
        let is_same =
            |(new, old): &(&Message, &Message)| new.json.view().raw() == old.json.view().raw();
        if new.list == old.list { pairs.take_while(is_same).count() } else { 0 }
    }
}

impl Message {
    /// The same message in another text; `None` if there is more to it than texts.
    fn moved(&self, home: Home<'_>) -> Option<Self> {
        if !self.flaws.is_empty() || self.item.is_some() {
            return None;
        }
        let pieces = self.pieces.iter().map(|piece| piece.moved(home));
        let moved = Self {
            pieces: pieces.collect::<Option<_>>()?,
            blocks: self.blocks.iter().map(|block| block.moved(home)).collect(),
            bond: self.bond,
            extras: self.extras.as_ref().map(|extras| Box::new(extras.moved(home))),
            ..Self::new(self.json.moved(home), self.role, self.native_role.moved(home))
        };
        Some(moved.shrunk())
    }
}

impl Extras {
    fn moved(&self, home: Home<'_>) -> Self {
        Self {
            speaker: self.speaker.as_ref().map(|speaker| speaker.moved(home)),
            calls: self.calls.iter().map(|call| call.moved(home)).collect(),
            answers: self.answers.iter().map(|answer| answer.moved(home)).collect(),
            served: self.served.iter().map(|served| served.moved(home)).collect(),
            stays: self.stays.clone(),
            notes: self.notes.clone(),
            flaws: Vec::new(),
            item: None,
        }
    }
}

impl Piece {
    fn moved(&self, home: Home<'_>) -> Option<Self> {
        match &self.content {
            Content::Text(text) => {
                Some(Self { block: self.block, ..Self::text(self.nature, text.moved(home)) })
            }
            Content::Image(..) | Content::File(..) | Content::Opaque(_) => None,
        }
    }
}

impl Call {
    fn moved(&self, home: Home<'_>) -> Self {
        Self {
            id: self.id.moved(home),
            name: self.name.moved(home),
            arguments: self.arguments.moved(home),
            needs_answer: self.needs_answer,
            block: self.block,
            id_place: self.id_place.as_ref().map(|place| place.moved(home)),
        }
    }
}

impl Served {
    fn moved(&self, home: Home<'_>) -> Self {
        Self { id: self.id.moved(home), block: self.block, is_error: self.is_error }
    }
}

impl Answer {
    fn moved(&self, home: Home<'_>) -> Self {
        Self {
            id: self.id.moved(home),
            name: self.name.as_ref().map(|name| name.moved(home)),
            block: self.block,
            body: self.body.as_ref().map(|body| body.moved(home)),
            is_error: self.is_error,
            id_place: self.id_place.as_ref().map(|place| place.moved(home)),
        }
    }
}

impl IdPlace {
    fn moved(&self, home: Home<'_>) -> Self {
        Self { holder: self.holder.moved(home), field: self.field }
    }
}
