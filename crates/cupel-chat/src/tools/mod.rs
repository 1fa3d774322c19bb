//! The tools that a request defines, one by one.

mod edit;
mod schema;

use std::collections::{HashMap, HashSet};

use cupel_tokens::{Overheads, TokenCounter};

use self::edit::Edits;
use self::schema::Parts;
use crate::conversation::{Fixed, FixedPart};
use crate::json::{Json, Object};
use crate::text::JsonText;
use crate::{Request, Rule};

pub use schema::ToolStep;

/// A tool that a request defines.
#[derive(Clone)]
pub struct Tool {
    name: String,
    definition: JsonText,
    calls: usize,
    is_providers: bool,
    need: Option<ToolNeed>,
}

/// Reason that keeps a tool in a request, whatever the question is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolNeed {
    /// It was called.
    Called,
    /// The request forces or allows it by its name.
    Forced,
    /// It is the provider's own.
    Provider,
    /// The system prompt names it.
    System,
    /// The user names it.
    User,
    /// A standing rule names it.
    Rule,
    /// A mark for the provider's cache stands on it or behind it.
    CacheMark,
}

impl ToolNeed {
    /// The reason in words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Called => "it was called",
            Self::Forced => "the request names it beside the tools",
            Self::Provider => "it is the provider's own",
            Self::System => "the system prompt names it",
            Self::User => "the user names it",
            Self::Rule => "a standing rule names it",
            Self::CacheMark => "a mark for the cache stands on it",
        }
    }
}

/// A tool in a request that is written anew.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ToolForm {
    /// As it is.
    #[default]
    Whole,
    /// As short as a step makes it, in its place.
    Short(ToolStep),
    /// Behind all others of its list, as short as a step makes it.
    Last {
        /// Step by which it is shorter.
        step: Option<ToolStep>,
        /// The order among those that stand there.
        order: usize,
    },
    /// Not at all.
    LeftOut,
}

impl Tool {
    /// The name by which it is called; of a provider's own tool, its type.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The definition as it is written.
    #[must_use]
    pub fn definition(&self) -> &str {
        self.definition.view().raw()
    }

    /// Number of calls in messages of the request.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Returns true if it is the provider's own, which is neither shortened nor left out.
    #[must_use]
    pub fn is_providers(&self) -> bool {
        self.is_providers
    }

    /// Reason that keeps it in the request, whatever the question is.
    #[must_use]
    pub fn need(&self) -> Option<ToolNeed> {
        self.need
    }

    /// Words that tell its purpose: its name, its description and the names of its parameters.
    #[must_use]
    pub fn words(&self) -> String {
        let (_, parts) = parts(self.definition.view());
        let mut words = self.name.clone();
        if let Some(description) = parts.description.and_then(Json::str) {
            words.extend(["\n", &description]);
        }
        let properties = parts.schema.and_then(|schema| schema.at_path("properties")?.object());
        for (name, _) in properties.unwrap_or_default().fields() {
            words.extend(["\n", name]);
        }
        words
    }

    /// The definition as short as a step makes it, if that is shorter. It takes exactly the calls that the
    /// whole one takes: only what a schema says to its reader goes.
    ///
    /// ```
    /// use cupel_chat::{Request, ToolStep};
    ///
    /// let text = r#"{"messages": [{"role": "user", "content": "Hi"}], "tools": [
    ///     {"name": "ls", "description": "Lists files. All of them. Really.", "input_schema":
    ///      {"type": "object", "properties": {"title": {"type": "string", "title": "Title"}}}}]}"#;
    /// let tool = &Request::parse(text, None)?.tools(&[])[0];
    /// assert!(tool.shortened(ToolStep::Sentences).unwrap().contains("All of them.\","));
    /// assert!(tool.shortened(ToolStep::Examples).unwrap().contains(r#""title": {"type": "string"}"#));
    /// # Ok::<(), cupel_chat::ChatError>(())
    /// ```
    #[must_use]
    pub fn shortened(&self, step: ToolStep) -> Option<String> {
        if self.is_providers {
            return None;
        }
        let json = self.definition.view();
        schema::shortened(json, &parts(json).1, step)
    }

    fn written(&self, step: Option<ToolStep>) -> String {
        let short = step.and_then(|step| self.shortened(step));
        short.unwrap_or_else(|| self.definition().to_owned())
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Tool");
        shown.field("name", &self.name).field("calls", &self.calls).field("need", &self.need);
        shown.finish_non_exhaustive()
    }
}

/// The name of a function that a definition defines, and what of it can be shorter.
fn parts(definition: Json<'_>) -> (Option<String>, Parts<'_>) {
    let none = Parts { description: None, schema: None };
    let Some(outer) = definition.object() else { return (None, none) };
    let inner = outer.any_of(&["function", "toolSpec"]).and_then(|(_, inner)| inner.object());
    let object = inner.as_ref().unwrap_or(&outer);
    let Some(name) = object.str("name") else { return (None, none) };
    let schema = object.any_of(&SCHEMA_FIELDS).map(|(_, schema)| schema);
    // Bedrock and the AI SDK wrap it once more.
    let wrapped = schema.and_then(|schema| {
        let (_, inner) = schema.object()?.any_of(&["json", "jsonSchema"])?;
        inner.is_object().then_some(inner)
    });
    let schema = wrapped.or(schema);
    let is_function = match outer.str("type").as_deref() {
        None | Some("function" | "custom") => true,
        Some(_) => schema.is_some(),
    };
    if !is_function {
        return (None, none);
    }
    let description = object.get("description").filter(|text| text.is_text());
    (Some(name.into_owned()), Parts { description, schema })
}

const SCHEMA_FIELDS: [&str; 6] = [
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
    "parameter_definitions",
];

/// Name of a tool of the provider's own.
fn kind_of(definition: Json<'_>) -> String {
    let object = definition.object().unwrap_or_default();
    let first = object.fields().next().map(|(name, _)| name.to_owned());
    let named = object.str("type").or_else(|| object.str("name")).map(std::borrow::Cow::into_owned);
    named.or(first).unwrap_or_else(|| definition.describe())
}

impl Request {
    /// The tools that it defines, one by one, in its order. Standing rules keep the tools that they name.
    ///
    /// Tools that the AI SDK has by name, and those that stand among the input of Responses, are not taken apart.
    #[must_use]
    pub fn tools(&self, rules: &[Rule]) -> Vec<Tool> {
        let lists = self.tool_lists();
        if lists.iter().all(|fixed| fixed.definitions.is_empty()) {
            return Vec::new();
        }
        let named = Named::of(self, rules);
        let mut tools = Vec::new();
        for fixed in lists {
            for definition in &fixed.definitions {
                let json = definition.view();
                let name = parts(json).0;
                let is_providers = name.is_none();
                let name = name.unwrap_or_else(|| kind_of(json));
                let calls = named.calls.get(name.as_str()).copied().unwrap_or_default();
                let need = if is_providers {
                    Some(ToolNeed::Provider)
                } else if has_cache_mark(fixed, definition) {
                    Some(ToolNeed::CacheMark)
                } else {
                    named.need(&name)
                };
                let definition = definition.clone();
                tools.push(Tool { name, definition, calls, is_providers, need });
            }
        }
        tools
    }

    fn tool_lists(&self) -> Vec<&Fixed> {
        let fixed = self.conversation().fixed.iter();
        fixed.filter(|fixed| fixed.part == FixedPart::Tools).collect()
    }

    /// Tokens of each definition, and those that count once if there are any.
    #[must_use]
    pub fn tools_tokens<'d>(
        &self,
        definitions: impl IntoIterator<Item = &'d str>,
        overheads: Option<Overheads>,
        counter: &dyn TokenCounter,
    ) -> (Vec<i64>, i64) {
        let overheads = overheads.unwrap_or_else(|| self.format().dialect().overheads());
        let base = overheads.tools.base();
        let tokens = definitions.into_iter().map(|definition| {
            match serde_json::from_str::<serde_json::Value>(definition) {
                Ok(value) => overheads.tools.definition_tokens(&value, counter),
                Err(_) => counter.count(definition),
            }
        });
        (tokens.collect(), base)
    }

    /// The text of the request with its tools in these forms, one for each of [`tools`](Self::tools); a tool
    /// without a form stays whole. All else is as it is written.
    #[must_use]
    pub fn with_tools(&self, tools: &[Tool], forms: &[ToolForm]) -> String {
        let mut all = Edits::new(self.text());
        let mut left = tools.iter().zip(forms.iter().chain(std::iter::repeat(&ToolForm::Whole)));
        for fixed in self.tool_lists() {
            let Some(list) = &fixed.list else { continue };
            let mine: Vec<_> = left.by_ref().take(fixed.definitions.len()).collect();
            if let Some(written) = rewritten(list.view(), &mine) {
                all.replace(list.range_in(self.text()), written);
            }
        }
        all.apply().unwrap_or_else(|| self.text().to_owned())
    }
}

/// A list of tools in these forms; `None` if nothing changes.
fn rewritten(list: Json<'_>, tools: &[(&Tool, &ToolForm)]) -> Option<String> {
    let text = list.raw();
    let mut edits = Edits::new(text);
    let mut moved = Vec::new();
    for element in list.list().unwrap_or_default() {
        let span = element.span_in(text);
        let within: Vec<_> = tools
            .iter()
            .map(|(tool, form)| (*tool, *form, tool.definition.view().span_in(text)))
            .filter(|(_, _, range)| span.start <= range.start && range.end <= span.end)
            .collect();
        // What wraps definitions, as Gemini's tools do, goes with the last of them.
        let is_wrapped = within.iter().any(|(_, _, range)| *range != span);
        if is_wrapped && within.iter().all(|(_, form, _)| **form == ToolForm::LeftOut) {
            edits.delete(span);
            continue;
        }
        let end = if is_wrapped { within.last().map(|(_, _, range)| range.end) } else { None };
        let end = end.unwrap_or_else(|| last_end(list, text));
        for (tool, form, range) in within {
            match form {
                ToolForm::Whole => {}
                ToolForm::Short(step) => {
                    if let Some(short) = tool.shortened(*step) {
                        edits.replace(range, short);
                    }
                }
                ToolForm::Last { step, order } => {
                    moved.push((*order, end, tool.written(*step)));
                    edits.delete(range);
                }
                ToolForm::LeftOut => edits.delete(range),
            }
        }
    }
    moved.sort_by_key(|(order, ..)| *order);
    for (_, end, written) in moved {
        edits.replace(end..end, format!(",{written}"));
    }
    edits.apply()
}

fn last_end(list: Json<'_>, text: &str) -> usize {
    let last = list.list().and_then(|elements| elements.last().map(|last| last.span_in(text).end));
    last.unwrap_or_default()
}

/// Tools and the messages that name them.
struct Named {
    calls: HashMap<String, usize>,
    forced: Vec<String>,
    system: Said,
    user: Said,
    rules: Said,
}

/// A text in which names are looked for.
struct Said {
    text: String,
    /// Its words in lower case.
    words: HashSet<String>,
}

impl Said {
    fn new(text: String) -> Self {
        let words = text.split(|letter| !is_part_of_name(letter));
        let words = words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase).collect();
        Self { text, words }
    }

    /// Tells if the text has a name as a word of its own, case aside.
    fn has(&self, name: &str) -> bool {
        if !name.is_empty() && name.chars().all(is_part_of_name) {
            return self.words.contains(&name.to_ascii_lowercase());
        }
        has_name(&self.text, name)
    }
}

fn is_part_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '-'
}

impl Named {
    fn of(request: &Request, rules: &[Rule]) -> Self {
        let conversation = request.conversation();
        let mut calls = HashMap::new();
        let (mut system, mut user) = (String::new(), String::new());
        for (_, words) in conversation.instructions() {
            system.extend([&words, "\n"]);
        }
        for message in &conversation.messages {
            for call in &message.calls {
                *calls.entry(call.name.to_string()).or_default() += 1;
            }
            let Some(words) = message.instructing_words() else { continue };
            let whose = if message.has_user_words() { &mut user } else { &mut system };
            whose.extend([&words, "\n"]);
        }
        let rules = rules.iter().map(Rule::as_str).collect::<Vec<_>>().join("\n");
        let forced = forced(request);
        let (system, user, rules) = (Said::new(system), Said::new(user), Said::new(rules));
        Self { calls, forced, system, user, rules }
    }

    fn need(&self, name: &str) -> Option<ToolNeed> {
        if self.calls.contains_key(name) {
            Some(ToolNeed::Called)
        } else if self.forced.iter().any(|forced| forced == name) {
            Some(ToolNeed::Forced)
        } else if self.rules.has(name) {
            Some(ToolNeed::Rule)
        } else if self.user.has(name) {
            Some(ToolNeed::User)
        } else {
            self.system.has(name).then_some(ToolNeed::System)
        }
    }
}

/// Returns true if a text has a name as a word of its own, case aside.
fn has_name(text: &str, name: &str) -> bool {
    let words = text.split(|letter| !is_part_of_name(letter) && !name.contains(letter));
    !name.is_empty() && words.into_iter().any(|word| word.eq_ignore_ascii_case(name))
}

/// The texts of the fields that force or allow tools by their names.
fn forced(request: &Request) -> Vec<String> {
    const FIELDS: [&str; 10] = [
        "tool_choice",
        "function_call",
        "toolChoice",
        "activeTools",
        "toolConfig.toolChoice",
        "toolConfig.functionCallingConfig",
        "tool_config.function_calling_config",
        "config.toolConfig.functionCallingConfig",
        "config.tool_config.function_calling_config",
        "generationConfig.toolConfig.functionCallingConfig",
    ];
    let text = request.text();
    let top = Json::known(None, text.strip_prefix('\u{feff}').unwrap_or(text).trim()).object();
    let Some(top) = top else { return Vec::new() };
    let mut names = Vec::new();
    for json in FIELDS.iter().filter_map(|path| top.at_path(path)) {
        if let Ok(value) = serde_json::from_str(json.raw()) {
            push_texts(&value, &mut names);
        }
    }
    names
}

fn push_texts(value: &serde_json::Value, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => texts.push(text.clone()),
        serde_json::Value::Array(list) => list.iter().for_each(|value| push_texts(value, texts)),
        serde_json::Value::Object(map) => map.values().for_each(|value| push_texts(value, texts)),
        _ => {}
    }
}

/// Returns true if a mark for the cache stands on a definition or right behind it.
fn has_cache_mark(fixed: &Fixed, definition: &JsonText) -> bool {
    let marked = |object: &Object<'_>| {
        object.any_of(&["cache_control", "cacheControl"]).is_some()
            || object.any_of(&["cachePoint", "cache_point"]).is_some()
    };
    let own = definition.view().object().unwrap_or_default();
    let inner = own.get("function").and_then(Json::object).unwrap_or_default();
    if marked(&own) || marked(&inner) {
        return true;
    }
    let Some(list) = &fixed.list else { return false };
    let (text, list) = (list.view().raw(), list.view().list().unwrap_or_default());
    let span = definition.view().span_in(text);
    let at = list.iter().position(|element| element.span_in(text) == span);
    let behind = at.and_then(|at| list.get(at + 1)?.object());
    behind.is_some_and(|behind| behind.any_of(&["cachePoint", "cache_point"]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(tools: &str, beside: &str) -> Request {
        let text = format!(
            r#"{{"messages":[{{"role":"user","content":"Use get_time, please"}}], "tools": {tools}{beside}}}"#
        );
        Request::parse(text, None).unwrap()
    }

    #[test]
    fn a_name_is_a_word_of_its_own() {
        let has = |text: &str, name: &str| Said::new(text.to_owned()).has(name);
        assert!(has("call Get_Time!", "get_time") && has("(a.b)", "a.b"));
        assert!(!has("get_time_now", "get_time") && !has("x", ""));
    }

    #[test]
    fn what_keeps_a_tool_is_known() {
        let tools = r#"[{"name":"get_time","input_schema":{}},{"name":"ls","input_schema":{}},
            {"name":"rm","input_schema":{},"cache_control":{"type":"ephemeral"}},
            {"type":"web_search_20250305","name":"web_search"},{"name":"cp","input_schema":{}}]"#;
        let request = request(tools, r#","tool_choice":{"type":"tool","name":"ls"}"#);
        let tools = request.tools(&[]);
        let needs: Vec<_> = tools.iter().map(|tool| (tool.name(), tool.need())).collect();
        assert_eq!(
            needs,
            [
                ("get_time", Some(ToolNeed::User)),
                ("ls", Some(ToolNeed::Forced)),
                ("rm", Some(ToolNeed::CacheMark)),
                ("web_search_20250305", Some(ToolNeed::Provider)),
                ("cp", None),
            ]
        );
        let rules: Vec<Rule> = Rule::lines("never cp a key").collect();
        assert_eq!(request.tools(&rules)[4].need(), Some(ToolNeed::Rule));
    }

    #[test]
    fn tools_go_and_move_and_all_else_stays() {
        let tools = r#"[ {"name":"a","input_schema":{}}, {"name":"b","input_schema":{},"description":"Be. See. Dee."}, {"name":"c","input_schema":{}} ]"#;
        let request = request(tools, "");
        let tools = request.tools(&[]);
        let written = |forms: &[ToolForm]| {
            let text = request.with_tools(&tools, forms);
            let (before, after) = text.split_once(r#""tools": "#).unwrap();
            assert!(request.text().starts_with(before));
            after.strip_suffix('}').unwrap().to_owned()
        };
        let last = |order| ToolForm::Last { step: None, order };
        assert_eq!(request.with_tools(&tools, &[]), request.text());
        assert_eq!(
            written(&[ToolForm::LeftOut, ToolForm::Short(ToolStep::Sentences)]),
            r#"[ {"name":"b","input_schema":{},"description":"Be. See."}, {"name":"c","input_schema":{}} ]"#
        );
        assert_eq!(
            written(&[last(0), ToolForm::LeftOut]),
            r#"[ {"name":"c","input_schema":{}},{"name":"a","input_schema":{}} ]"#
        );
        assert_eq!(
            written(&[ToolForm::Whole, ToolForm::LeftOut, last(0)]),
            r#"[ {"name":"a","input_schema":{}}, {"name":"c","input_schema":{}} ]"#
        );
        assert_eq!(
            written(&[last(1), ToolForm::LeftOut, last(0)]),
            r#"[ {"name":"c","input_schema":{}},{"name":"a","input_schema":{}} ]"#
        );
    }

    #[test]
    fn what_wraps_declarations_goes_with_the_last_of_them() {
        let text = r#"{"contents":[{"parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b"}]},{"googleSearch":{}}]}"#;
        let request = Request::parse(text, None).unwrap();
        let tools = request.tools(&[]);
        assert_eq!(tools.iter().map(Tool::name).collect::<Vec<_>>(), ["a", "b", "googleSearch"]);
        let last = ToolForm::Last { step: None, order: 0 };
        let one = request.with_tools(&tools, &[last, ToolForm::LeftOut]);
        assert!(one.ends_with(r#"[{"functionDeclarations":[{"name":"a"}]},{"googleSearch":{}}]}"#));
        let none = request.with_tools(&tools, &[ToolForm::LeftOut, ToolForm::LeftOut]);
        assert!(none.ends_with(r#""tools":[{"googleSearch":{}}]}"#));
    }
}
