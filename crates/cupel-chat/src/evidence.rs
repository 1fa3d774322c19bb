//! Evidence of a format: the names in a request that not every format has, and the formats that know them.

use std::borrow::Cow;
use std::fmt;

use crate::document::Document;
use crate::json::{Json, Object};

/// The names that a format knows, as far as they tell it from others.
///
/// A name that one format knows contradicts all formats that do not. In every list, a `*` at either end of
/// a name stands for anything.
pub(crate) struct Vocabulary {
    /// The fields that may hold the messages.
    pub(crate) lists: &'static [&'static str],
    /// Roles of messages.
    pub(crate) roles: &'static [&'static str],
    /// The roles that the first message may have, where that is not any of `roles`.
    pub(crate) first: &'static [&'static str],
    /// Types of messages, where a message has a `type`.
    pub(crate) types: &'static [&'static str],
    /// Fields of messages.
    pub(crate) fields: &'static [&'static str],
    /// Types of the blocks of a `content`.
    pub(crate) blocks: &'static [&'static str],
    /// Fields of such blocks, where they have no type.
    pub(crate) block_fields: &'static [&'static str],
    /// Blocks and tools that are read, although they are another format's: gateways pass them on.
    pub(crate) foreign: &'static [&'static str],
    /// Types of `parts`.
    pub(crate) parts: &'static [&'static str],
    /// Fields of parts, where they have no type.
    pub(crate) part_fields: &'static [&'static str],
    /// Fields of tool definitions, and of the calls of `tool_calls`.
    pub(crate) tools: &'static [&'static str],
    /// Fields beside the messages. They contradict nothing, since gateways pass on any of them; the
    /// format that knows most of them is the likeliest.
    pub(crate) settings: &'static [&'static str],
    /// Those that hardly any other format has.
    pub(crate) own_settings: &'static [&'static str],
    /// Beginnings of names of models that are the provider's own.
    pub(crate) models: &'static [&'static str],
    /// Fields without which the provider takes no request. A model is no hint where one is missing.
    pub(crate) required: &'static [&'static str],
}

impl Vocabulary {
    /// A vocabulary of nothing.
    pub(crate) const NONE: Self = Self {
        lists: &[],
        roles: &[],
        first: &[],
        types: &[],
        fields: &[],
        blocks: &[],
        block_fields: &[],
        foreign: &[],
        parts: &[],
        part_fields: &[],
        tools: &[],
        settings: &[],
        own_settings: &[],
        models: &[],
        required: &[],
    };

    fn names(&self, kind: SignKind) -> &'static [&'static str] {
        match kind {
            SignKind::FirstRole if !self.first.is_empty() => self.first,
            SignKind::Role | SignKind::FirstRole => self.roles,
            SignKind::Type => self.types,
            SignKind::Field => self.fields,
            SignKind::Block => self.blocks,
            SignKind::BlockField => self.block_fields,
            SignKind::Part => self.parts,
            SignKind::PartField => self.part_fields,
            SignKind::Tool => self.tools,
        }
    }

    /// Returns `true` if a sign is one of the format's own, so that it contradicts formats that do not
    /// know it.
    pub(crate) fn owns(&self, sign: &Sign<'_>) -> bool {
        let names = self.names(sign.kind);
        names.iter().any(|known| *known != "*" && is_name(known, &sign.name))
    }

    /// Returns `true` if the format may have the sign.
    pub(crate) fn knows(&self, sign: &Sign<'_>) -> bool {
        holds(self.names(sign.kind), &sign.name)
            || matches!(sign.kind, SignKind::Block | SignKind::Tool)
                && holds(self.foreign, &sign.name)
    }

    /// Returns `true` if the format reads such a block.
    pub(crate) fn knows_block(&self, name: &str) -> bool {
        holds(self.blocks, name) || holds(self.foreign, name)
    }

    /// Returns `true` if the format reads a block without a type that has such a field.
    pub(crate) fn knows_block_field(&self, name: &str) -> bool {
        holds(self.block_fields, name)
    }

    /// The number of fields beside the messages that speak for the format.
    pub(crate) fn hints(&self, top: &Object<'_>) -> usize {
        // One of these outweighs all that a gateway may have added.
        const OWN: usize = 8;
        count(self.settings, top)
            + OWN * count(self.own_settings, top)
            + usize::from(self.has_own_model(top))
    }

    /// Returns `true` if the model or a field beside the messages is the provider's own.
    pub(crate) fn is_named(&self, top: &Object<'_>) -> bool {
        self.has_own_model(top) || count(self.own_settings, top) > 0
    }

    fn has_own_model(&self, top: &Object<'_>) -> bool {
        let model = top.str("model").unwrap_or_default();
        self.models.iter().any(|family| model.starts_with(family))
            && count(self.required, top) == self.required.len()
    }
}

/// The number of the fields that are there.
fn count(names: &[&str], top: &Object<'_>) -> usize {
    names.iter().filter(|name| top.get(name).is_some()).count()
}

fn holds(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| is_name(known, name))
}

fn is_name(known: &str, name: &str) -> bool {
    match (known.strip_prefix('*'), known.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => known == name,
    }
}

/// A name that may tell the format, and the first place that has it.
pub(crate) struct Sign<'t> {
    pub(crate) kind: SignKind,
    pub(crate) name: Cow<'t, str>,
    path: String,
}

/// Where a name stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignKind {
    Role,
    /// The role of the first message.
    FirstRole,
    Type,
    Field,
    Block,
    BlockField,
    Part,
    PartField,
    Tool,
}

impl Sign<'_> {
    /// Returns `true` if nobody may take it for plain text, so that a format must know it.
    pub(crate) fn must_be_known(&self) -> bool {
        match self.kind {
            SignKind::Block | SignKind::BlockField | SignKind::PartField => {
                is_more_than_text(&self.name)
            }
            SignKind::Part => true,
            _ => false,
        }
    }
}

impl fmt::Display for Sign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, path } = self;
        match kind {
            SignKind::Role | SignKind::FirstRole => write!(f, "{path} has the role `{name}`"),
            SignKind::Type => write!(f, "{path} is of the type `{name}`"),
            SignKind::Field => write!(f, "{path} has the field `{name}`"),
            SignKind::Block => write!(f, "{path} is a block of the type `{name}`"),
            SignKind::BlockField => write!(f, "{path} is a block with the field `{name}`"),
            SignKind::Part => write!(f, "{path} is a part of the type `{name}`"),
            SignKind::PartField => write!(f, "{path} is a part with the field `{name}`"),
            SignKind::Tool => write!(f, "{path} has {name}"),
        }
    }
}

/// Returns `true` if the name of a block sounds like a call, a result or a file.
pub(crate) fn is_more_than_text(name: &str) -> bool {
    const WORDS: [&str; 13] = [
        "tool",
        "function",
        "call",
        "result",
        "response",
        "image",
        "audio",
        "video",
        "file",
        "document",
        "media",
        "attachment",
        "resource",
    ];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// The signs of a request, each once.
pub(crate) fn signs<'t>(
    document: &Document<'t>,
    top: &Object<'t>,
    list: &str,
    elements: &[Json<'t>],
) -> Vec<Sign<'t>> {
    let mut signs = Signs(Vec::new());
    for (at, message) in document.sample(elements) {
        signs.read_message(message, at, &format!("{list}[{at}]"));
    }
    for (at, tool) in top.get("tools").and_then(Json::list).unwrap_or_default().iter().enumerate() {
        let tool = tool.object().unwrap_or_default();
        for name in ["function", "input_schema", "functionDeclarations", "function_declarations"] {
            if tool.get(name).is_some() {
                signs.add(SignKind::Tool, format!("the field `{name}`"), &format!("tools[{at}]"));
            }
        }
    }
    signs.0
}

struct Signs<'t>(Vec<Sign<'t>>);

impl<'t> Signs<'t> {
    fn add(&mut self, kind: SignKind, name: impl Into<Cow<'t, str>>, path: &str) {
        let name = name.into();
        if !self.0.iter().any(|known| known.kind == kind && known.name == name) {
            self.0.push(Sign { kind, name, path: path.to_owned() });
        }
    }

    fn read_message(&mut self, message: &Object<'t>, at: usize, path: &str) {
        if let Some(kind) = message.str("type") {
            self.add(SignKind::Type, kind, path);
        }
        // Where a type says whose message it is, a role may be anything.
        let is_typed = message.str("type").is_some_and(|kind| kind != "message");
        if let Some(role) = message.str("role").filter(|_| !is_typed) {
            if at == 0 {
                self.add(SignKind::FirstRole, role.clone(), path);
            }
            self.add(SignKind::Role, role, path);
        }
        for (name, value) in message.fields().filter(|(_, value)| !value.is_null()) {
            // Images are base64 texts to one format, and blocks to another.
            let is_telling = name != "images" || is_list_of_texts(value);
            if is_telling && value.raw() != "[]" || name == "parts" {
                self.add(SignKind::Field, name.to_owned(), path);
            }
        }
        self.read_blocks(message, "content", (SignKind::Block, SignKind::BlockField), path);
        self.read_blocks(message, "parts", (SignKind::Part, SignKind::PartField), path);
        self.read_calls(message, path);
    }

    fn read_blocks(
        &mut self,
        message: &Object<'t>,
        list: &str,
        (typed, untyped): (SignKind, SignKind),
        path: &str,
    ) {
        let blocks = message.get(list).and_then(Json::list).unwrap_or_default();
        for (index, block) in blocks.iter().enumerate() {
            let block = block.object().unwrap_or_default();
            let path = format!("{path}.{list}[{index}]");
            match block.str("type") {
                // OpenTelemetry's parts have the names of others, and their texts in `content`.
                Some(kind) if typed == SignKind::Part && kind == "text" && !block.has("text") => {
                    self.add(typed, "text, without a text", &path);
                }
                Some(kind) => self.add(typed, kind, &path),
                None => {
                    let there = block.fields().filter(|(_, value)| !value.is_null());
                    for (name, _) in there {
                        self.add(untyped, name.to_owned(), &path);
                    }
                }
            }
        }
    }

    /// The arguments of calls are a text or an object, by the format.
    fn read_calls(&mut self, message: &Object<'t>, path: &str) {
        let calls = message.get("tool_calls").and_then(Json::list).unwrap_or_default();
        for (index, call) in calls.iter().enumerate() {
            let Some(arguments) = call.at_path("function.arguments") else { continue };
            let name = if arguments.is_object() { OBJECT_ARGUMENTS } else { TEXT_ARGUMENTS };
            self.add(SignKind::Tool, name, &format!("{path}.tool_calls[{index}]"));
        }
    }
}

fn is_list_of_texts(value: Json<'_>) -> bool {
    value.list().is_some_and(|list| list.first().is_some_and(|first| first.is_text()))
}

/// Tool definitions and calls, as [`Vocabulary::tools`] names them.
pub(crate) const FUNCTION_TOOL: &str = "the field `function`";
pub(crate) const OBJECT_ARGUMENTS: &str = "arguments that are an object";
pub(crate) const TEXT_ARGUMENTS: &str = "arguments that are a text";
