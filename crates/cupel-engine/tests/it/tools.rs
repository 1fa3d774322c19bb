//! Tools of requests: what is listed of them, and that shorter ones take the same calls.

use cupel_chat::{Format, ToolForm, ToolStep};
use cupel_engine::{Engine, Options, Request};
use serde_json::{Map, Value, json};

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }
}

/// Names of properties, many of which are names of keywords too.
const NAMES: [&str; 8] =
    ["title", "description", "default", "examples", "properties", "$comment", "a", "enum"];

/// A value that instances and schemas share, so that schemas take some instances.
fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 5 } else { 7 }) {
        0 => json!(dice.below(3)),
        1 => json!("Two sentences. Here."),
        2 => json!(dice.pick(&NAMES)),
        3 => json!(null),
        4 => json!(dice.below(2) == 0),
        5 => (0..dice.below(3)).map(|_| value(dice, depth - 1)).collect(),
        _ => {
            let fields =
                (0..dice.below(4)).map(|_| (dice.pick(&NAMES).to_owned(), value(dice, depth - 1)));
            Value::Object(fields.collect())
        }
    }
}

fn schema(dice: &mut Dice, depth: usize) -> Value {
    let mut schema = Map::new();
    for _ in 0..dice.below(4) {
        let (keyword, said) = match dice.below(7) {
            0 => ("title", json!("A title")),
            1 => ("description", json!("First sentence. Second one, e.g. this. Third.")),
            2 => ("default", value(dice, 1)),
            3 => ("examples", json!([value(dice, 1), {"title": "x"}])),
            4 => ("$comment", json!("why")),
            5 => ("deprecated", json!(true)),
            _ => ("enumDescriptions", json!(["one", "two"])),
        };
        schema.insert(keyword.to_owned(), said);
    }
    for _ in 0..dice.below(3) {
        let keyword = dice.below(if depth == 0 { 4 } else { 15 });
        let inner = |dice: &mut Dice| self::schema(dice, depth.saturating_sub(1));
        let named = |dice: &mut Dice| {
            let count = dice.below(4);
            let fields = (0..count).map(|_| (dice.pick(&NAMES).to_owned(), inner(dice)));
            Value::Object(fields.collect())
        };
        let (keyword, said) = match keyword {
            0 => ("type", json!(dice.pick(&["object", "string", "array", "integer", "null"]))),
            1 => ("enum", (0..=dice.below(3)).map(|_| value(dice, 2)).collect()),
            2 => ("const", value(dice, 2)),
            3 => ("required", json!([dice.pick(&NAMES)])),
            4 | 5 => ("properties", named(dice)),
            6 => ("additionalProperties", inner(dice)),
            7 => ("items", inner(dice)),
            8 => ("not", inner(dice)),
            9 => ("anyOf", json!([inner(dice), inner(dice)])),
            10 => ("oneOf", json!([inner(dice), inner(dice)])),
            11 => ("allOf", json!([inner(dice)])),
            12 => ("$ref", json!(format!("#/$defs/{}", dice.pick(&["title", "x"])))),
            13 => ("propertyNames", inner(dice)),
            _ => ("unevaluatedProperties", inner(dice)),
        };
        schema.insert(keyword.to_owned(), said);
    }
    Value::Object(schema)
}

fn takes(schema: &Value, instances: &[Value]) -> Option<Vec<bool>> {
    let (mut compiler, mut schemas) = (boon::Compiler::new(), boon::Schemas::new());
    compiler.add_resource("schema.json", schema.clone()).ok()?;
    let index = compiler.compile("schema.json", &mut schemas).ok()?;
    Some(instances.iter().map(|instance| schemas.validate(instance, index).is_ok()).collect())
}

#[test]
fn shorter_schemas_take_exactly_what_whole_ones_take() {
    let mut dice = Dice(7);
    let (mut taken, mut refused, mut shorter) = (0, 0, 0);
    for _ in 0..1_500 {
        let mut whole = schema(&mut dice, 3);
        // What a reference of its own leads to.
        whole["$defs"] =
            json!({"title": schema(&mut dice, 1), "x": {"title": "X", "type": "object"}});
        let instances: Vec<Value> = (0..12).map(|_| value(&mut dice, 3)).collect();
        let Some(expected) = takes(&whole, &instances) else { continue };
        let tool =
            json!({"name": "f", "description": "One is. Two is. Three is.", "input_schema": whole});
        let request = json!({"messages": [{"role": "user", "content": "Hi"}], "tools": [tool]});
        let request = Request::parse(request.to_string(), Some(Format::Anthropic)).unwrap();
        let tool = &request.tools(&[])[0];
        let mut last = usize::MAX;
        for step in ToolStep::ALL {
            let text = tool.shortened(step).unwrap();
            assert!(text.len() <= last, "each step takes what the one before it leaves");
            last = text.len();
            let short: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(short["name"], "f");
            let found = takes(&short["input_schema"], &instances);
            assert_eq!(found.as_ref(), Some(&expected), "{step:?}\n{whole}\n{text}");
        }
        shorter += usize::from(last < tool.definition().len() - 30);
        taken += expected.iter().filter(|taken| **taken).count();
        refused += expected.iter().filter(|taken| !**taken).count();
    }
    assert!(taken > 1_000 && refused > 1_000 && shorter > 500, "{taken} {refused} {shorter}");
}

/// A request with two tools of one's own in every format that has tools, each as its provider wants it.
pub(crate) fn requests() -> Vec<(Format, Value)> {
    let schema = |what: &str| {
        json!({"type": "object", "title": "Arguments", "required": ["title"], "additionalProperties": false,
            "properties": {"title": {"type": "string", "description": format!("The {what}. As people say it.")}}})
    };
    let long = |what: &str| {
        format!(
            "Looks up the {what} in the tables. It takes a while. Do not call it twice. {}",
            "Be patient. ".repeat(20)
        )
    };
    let function = |name: &str, what: &str| json!({"type": "function", "function": {"name": name, "description": long(what), "strict": true, "parameters": schema(what)}});
    let chat = [function("get_tides", "tides"), function("get_ferries", "ferries")];
    let flat = |field: &str| {
        let tool = |name: &str, what: &str| json!({"name": name, "description": long(what), field: schema(what)});
        [tool("get_tides", "tides"), tool("get_ferries", "ferries")]
    };
    let mut responses = flat("parameters");
    let mut sdk = flat("inputSchema");
    for tool in responses.iter_mut().chain(&mut sdk) {
        tool["type"] = json!("function");
    }
    let said = json!([{"role": "user", "content": "When does the boat leave?"}]);
    let spec = |tool: &Value| {
        let mut spec = tool.clone();
        spec["inputSchema"] = json!({"json": spec["inputSchema"]});
        json!({"toolSpec": spec})
    };
    let specs: Vec<Value> = flat("inputSchema").iter().map(spec).collect();
    vec![
        (Format::OpenAiChat, json!({"messages": said, "tools": chat})),
        (Format::OpenAiResponses, json!({"input": said, "tools": responses})),
        (
            Format::Anthropic,
            json!({"messages": said, "tools": flat("input_schema"), "max_tokens": 10}),
        ),
        (
            Format::Gemini,
            json!({"contents": [{"role": "user", "parts": [{"text": "When does the boat leave?"}]}],
            "tools": [{"functionDeclarations": flat("parameters")}]}),
        ),
        (Format::AiSdk, json!({"messages": said, "tools": sdk})),
        (
            Format::Bedrock,
            json!({"messages": [{"role": "user", "content": [{"text": "When does the boat leave?"}]}],
            "toolConfig": {"tools": specs}}),
        ),
        (Format::Ollama, json!({"messages": said, "tools": chat})),
        (Format::Cohere, json!({"messages": said, "tools": chat})),
        (
            Format::LangChain,
            json!({"messages": [{"type": "human", "content": "When does the boat leave?"}], "tools": chat}),
        ),
    ]
}

#[test]
fn tools_are_listed_in_every_format_and_add_up() {
    let engine = Engine::builder().tokenizer("cl100k_base");
    for (format, request) in requests() {
        let engine = Engine::builder().tokenizer("cl100k_base").format(format).build().unwrap();
        let list = engine.tools(request.to_string(), &Options::new()).unwrap();
        let names: Vec<&str> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["get_tides", "get_ferries"], "{format}");
        let count = engine.count(request.to_string(), &Options::new()).unwrap();
        let part = count.parts.iter().find(|part| part.kind == "ToolDefinition").unwrap();
        assert_eq!(part.tokens, list.total_tokens, "{format}");
        for tool in &list.tools {
            assert!(2 * tool.short_tokens < tool.tokens, "{format}: {tool:?}");
        }
    }
    let none =
        engine.build().unwrap().tools(r#"[{"role":"user","content":"Hi"}]"#, &Options::new());
    let none = none.unwrap();
    assert_eq!((none.total_tokens, none.tools.len()), (0, 0));
}

#[test]
fn a_request_with_shorter_tools_is_the_same_request_in_every_format() {
    for (format, whole) in requests() {
        let request = Request::parse(whole.to_string(), Some(format)).unwrap();
        let tools = request.tools(&[]);
        let short = vec![ToolForm::Short(ToolStep::Bare); 2];
        let text = request.with_tools(&tools, &short);
        let again = Request::parse(text.as_str(), Some(format)).unwrap();
        assert!(again.validate().is_empty(), "{format}");
        let mut short: Value = serde_json::from_str(&text).unwrap();
        assert!(!text.contains("Arguments") && text.contains("additionalProperties"), "{format}");
        assert!(text.contains(r#""description":"Looks up the tides in the tables.""#), "{format}");
        let lists = ["tools", "toolConfig"];
        let mut whole = whole.clone();
        for request in [&mut short, &mut whole] {
            for list in lists {
                request.as_object_mut().unwrap().remove(list);
            }
        }
        assert_eq!(short, whole, "{format}");
    }
}
