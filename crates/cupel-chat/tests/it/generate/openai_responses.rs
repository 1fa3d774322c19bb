//! Responses.

use super::{Ids, Json, bare_or_wrapped, object, words};
use crate::random::Random;

/// Calls, what answers them, and the field that only this kind of call has.
const CALLS: [(&str, &str); 4] = [
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("computer_call", "computer_call_output"),
    ("local_shell_call", "local_shell_call_output"),
];

pub(crate) fn request(random: &mut Random) -> String {
    let mut around = vec![("model", "gpt-4.1".into())];
    if random.chance(50) {
        around.push(("instructions", words(random).into()));
    }
    if random.chance(40) {
        let tool = object([("type", "function".into()), ("name", "look".into())]);
        let parameters = object([("type", "object".into()), ("properties", object([]))]);
        around.push(("tools", vec![tool.with("parameters", parameters)].into()));
    }
    if random.chance(20) {
        let format = object([("type", "json_schema".into()), ("name", words(random).into())]);
        around.push(("text", object([("format", format), ("verbosity", "low".into())])));
    }
    if random.chance(5) {
        around.push(("input", words(random).into()));
        return Json::Object(around).decorated(random).write(random);
    }
    let mut input = Input { items: Vec::new(), ids: Ids::default() };
    (0..random.within(1, 7)).for_each(|_| input.step(random));
    bare_or_wrapped("input", input.items, around, random)
}

struct Input {
    items: Vec<Json>,
    ids: Ids,
}

impl Input {
    fn add(&mut self, item: Json, random: &mut Random) {
        self.items.push(item.decorated(random));
    }

    fn step(&mut self, random: &mut Random) {
        match random.below(11) {
            10 => self.more_tools(random),
            0..=3 => self.message("user", random),
            4 => self.message(random.pick(&["system", "developer"]), random),
            5 => {
                self.reasoning(random);
                self.output_message(random);
            }
            6 | 7 => self.calls(random),
            8 => {
                self.reasoning(random);
                let id = self.ids.next("ws_");
                let search = object([("type", "web_search_call".into()), ("id", id.into())]);
                self.add(search.with("status", "completed"), random);
            }
            _ => self.approval(random),
        }
    }

    fn more_tools(&mut self, random: &mut Random) {
        let tool = object([("type", "function".into()), ("name", "look".into())]);
        let kind = random.pick(&["additional_tools", "tools"]);
        let tools = vec![tool.with("description", words(random))];
        self.add(object([("type", kind.into()), ("tools", tools.into())]), random);
    }

    fn message(&mut self, role: &str, random: &mut Random) {
        let content = if random.chance(50) {
            words(random).into()
        } else {
            vec![object([("type", "input_text".into()), ("text", words(random).into())])].into()
        };
        let message = object([("role", role.into()), ("content", content)]);
        let typed = random.chance(50);
        self.add(if typed { message.with("type", "message") } else { message }, random);
    }

    fn output_message(&mut self, random: &mut Random) {
        let text = object([("type", "output_text".into()), ("text", words(random).into())]);
        let message = object([("type", "message".into()), ("role", "assistant".into())]);
        let id = self.ids.next("msg_");
        self.add(message.with("id", id).with("content", vec![text]), random);
    }

    /// Reasoning, at times; what follows must be the model's.
    fn reasoning(&mut self, random: &mut Random) {
        while random.chance(50) {
            let summary = object([("type", "summary_text".into()), ("text", words(random).into())]);
            let item = object([("type", "reasoning".into()), ("summary", vec![summary].into())]);
            let id = self.ids.next("rs_");
            self.add(item.with("id", id).with("encrypted_content", "gAAAAB"), random);
        }
    }

    fn calls(&mut self, random: &mut Random) {
        self.reasoning(random);
        let mut outputs = Vec::new();
        for _ in 0..random.within(1, 3) {
            let (call, output) = random.pick(&CALLS);
            let id = self.ids.next("call_");
            self.add(call_item(call, &id), random);
            let by_id = output == "local_shell_call_output" && random.chance(50);
            let id_field = if by_id { "id" } else { "call_id" };
            let output = object([("type", output.into()), (id_field, id.into())]);
            outputs.push(output.with("output", words(random)));
        }
        if random.chance(50) {
            random.shuffle(&mut outputs);
        }
        for output in outputs {
            // Nothing says that an output has to be adjacent to its call.
            if random.chance(15) {
                self.message("user", random);
            }
            self.add(output, random);
        }
    }

    fn approval(&mut self, random: &mut Random) {
        let id = self.ids.next("mcpr_");
        let request = object([("type", "mcp_approval_request".into()), ("id", id.as_str().into())]);
        let request = request.with("server_label", "files").with("name", "delete");
        self.add(request.with("arguments", "{}"), random);
        let response = object([("type", "mcp_approval_response".into())]);
        let response = response.with("approval_request_id", id);
        self.add(response.with("approve", Json::Raw("false")), random);
    }
}

fn call_item(kind: &str, id: &str) -> Json {
    let call =
        object([("type", kind.into()), ("call_id", id.into()), ("id", format!("i_{id}").into())]);
    match kind {
        "function_call" => call.with("name", "look").with("arguments", "{\"at\":1.0}"),
        "custom_tool_call" => call.with("name", "sketch").with("input", "a/b"),
        _ => call.with("action", object([("type", "wait".into())])).with("status", "completed"),
    }
}
