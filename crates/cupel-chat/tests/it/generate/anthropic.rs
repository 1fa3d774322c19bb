//! Anthropic Messages.

use super::{Ids, Json, bare_or_wrapped, object, words};
use crate::random::Random;

pub(crate) fn request(random: &mut Random) -> String {
    let thinks = random.chance(50);
    // A list alone names no model that would take system prompts.
    let takes_system = random.chance(30);
    let mut chat = Chat { messages: Vec::new(), ids: Ids::default(), thinks, takes_system };
    (0..random.within(1, 4)).for_each(|_| chat.turn(random));

    let model = if takes_system { "claude-opus-4-8" } else { "claude-sonnet-4" };
    let mut around = vec![("model", model.into()), ("max_tokens", Json::Raw("1e3"))];
    if random.chance(20) {
        let schema = object([("type", "object".into()), ("title", words(random).into())]);
        let format = object([("type", "json_schema".into()), ("schema", schema)]);
        around.push(("output_config", object([("format", format)])));
    }
    if thinks {
        around.push(("thinking", object([("type", "enabled".into())])));
    }
    match random.below(3) {
        0 => around.push(("system", words(random).into())),
        1 => around.push(("system", vec![marked(text(random)), text(random)].into())),
        _ => {}
    }
    if random.chance(40) {
        let schema = object([("type", "object".into()), ("properties", object([]))]);
        around.push((
            "tools",
            vec![object([("name", "look".into()), ("input_schema", schema)])].into(),
        ));
    }
    if takes_system {
        around.push(("messages", chat.messages.into()));
        return Json::Object(around).decorated(random).write(random);
    }
    bare_or_wrapped("messages", chat.messages, around, random)
}

struct Chat {
    messages: Vec<Json>,
    ids: Ids,
    thinks: bool,
    takes_system: bool,
}

impl Chat {
    fn add(&mut self, role: &str, content: Json, random: &mut Random) {
        let message = object([("role", role.into()), ("content", content)]);
        self.messages.push(message.decorated(random));
    }

    /// From the user's words to whatever comes before the next ones.
    fn turn(&mut self, random: &mut Random) {
        self.add("user", said(random), random);
        if random.chance(10) {
            self.add("user", said(random), random);
        }
        let steps = random.pick(&[0, 0, 1, 1, 2, 4, 7]);
        let answers = random.chance(60);
        if steps > 0 || answers {
            self.system(random);
        }
        for step in 0..steps {
            if !self.thinks && random.chance(10) {
                let said = vec![text(random)];
                self.add("assistant", said.into(), random);
            }
            self.tool_use(step == 0, random);
            if step + 1 < steps {
                self.system(random);
            }
        }
        if answers {
            let mut blocks = if steps == 0 { self.thinking(random) } else { Vec::new() };
            if random.chance(5) {
                let summary = object([("type", "compaction".into())]);
                blocks.push(summary.with("content", words(random)));
            }
            blocks.push(text(random));
            self.add("assistant", blocks.into(), random);
        }
    }

    /// A system prompt behind the user's words or results, where the model takes it.
    fn system(&mut self, random: &mut Random) {
        if self.takes_system && random.chance(25) {
            let content = words(random);
            self.add("system", content.into(), random);
        }
    }

    /// The block with which a turn begins, where thinking is switched on.
    fn thinking(&mut self, random: &mut Random) -> Vec<Json> {
        match (self.thinks, random.below(4)) {
            (false, _) => Vec::new(),
            (true, 0) => {
                vec![object([("type", "redacted_thinking".into()), ("data", "EmwK".into())])]
            }
            (true, _) => {
                let block =
                    object([("type", "thinking".into()), ("thinking", words(random).into())]);
                vec![block.with("signature", "EqQBCkYIBxgCKkD/7Lq0")]
            }
        }
    }

    fn tool_use(&mut self, first: bool, random: &mut Random) {
        let begins = first || random.chance(50);
        let mut blocks = if begins { self.thinking(random) } else { Vec::new() };
        if random.chance(40) {
            blocks.push(text(random));
        }
        if random.chance(10) {
            blocks.extend(self.server_search());
        }
        let ids: Vec<_> = (0..random.within(1, 3)).map(|_| self.ids.next("toolu_")).collect();
        for id in &ids {
            let block = object([("type", "tool_use".into()), ("id", id.as_str().into())]);
            let input = object([("at", Json::Raw("1.0")), ("", "".into())]);
            blocks.push(block.with("name", "look").with("input", input).decorated(random));
        }
        self.add("assistant", blocks.into(), random);

        let mut results: Vec<_> = ids.iter().map(|id| result(id, random)).collect();
        if random.chance(50) {
            random.shuffle(&mut results);
        }
        if random.chance(20) {
            results.push(text(random));
        }
        self.add("user", results.into(), random);
    }

    /// A search that the service did by itself: call and result live in one message.
    fn server_search(&mut self) -> [Json; 2] {
        let id = self.ids.next("srvtoolu_");
        let call = object([("type", "server_tool_use".into()), ("id", id.as_str().into())]);
        let result =
            object([("type", "web_search_tool_result".into()), ("tool_use_id", id.into())]);
        [
            call.with("name", "web_search").with("input", object([("query", "trams".into())])),
            result.with("content", Vec::new()),
        ]
    }
}

fn said(random: &mut Random) -> Json {
    // An image weighs as much as all words together, so there are few.
    match random.below(12) {
        0 => vec![image(), text(random)].into(),
        1 | 2 => vec![marked(text(random))].into(),
        _ => words(random).into(),
    }
}

fn text(random: &mut Random) -> Json {
    object([("type", "text".into()), ("text", words(random).into())]).decorated(random)
}

fn marked(block: Json) -> Json {
    block.with("cache_control", object([("type", "ephemeral".into())]))
}

fn image() -> Json {
    let source = object([("type", "base64".into()), ("media_type", "image/png".into())]);
    object([("type", "image".into()), ("source", source.with("data", "iVBORw0KGgo="))])
}

fn result(id: &str, random: &mut Random) -> Json {
    let block = object([("type", "tool_result".into()), ("tool_use_id", id.into())]);
    match random.below(12) {
        0 | 1 => block,
        2 => block.with("content", vec![text(random), image()]),
        3..=5 => block.with("content", words(random)).with("is_error", Json::Raw("true")),
        _ => block.with("content", words(random)),
    }
}
