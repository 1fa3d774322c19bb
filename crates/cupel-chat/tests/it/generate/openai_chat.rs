//! Chat Completions.

use super::{Ids, Json, bare_or_wrapped, object, words};
use crate::random::Random;

pub(crate) fn request(random: &mut Random) -> String {
    let mut chat = Chat { messages: Vec::new(), ids: Ids::default() };
    for _ in 0..random.pick(&[0, 1, 1, 2]) {
        let role = random.pick(&["system", "developer"]);
        chat.push(role, content(random), random);
    }
    let steps = random.within(usize::from(chat.messages.is_empty()), 8);
    (0..steps).for_each(|_| chat.step(random));

    let mut around = vec![("model", "gpt-4o".into()), ("temperature", Json::Raw("0.20"))];
    if random.chance(50) {
        around.push((
            "tools",
            (0..random.within(0, 2)).map(|_| tool(random)).collect::<Vec<_>>().into(),
        ));
    }
    if random.chance(20) {
        let schema = object([("name", "answer".into()), ("description", words(random).into())]);
        let format = object([("type", "json_schema".into()), ("json_schema", schema)]);
        around.push(("response_format", format));
    }
    bare_or_wrapped("messages", chat.messages, around, random)
}

struct Chat {
    messages: Vec<Json>,
    ids: Ids,
}

impl Chat {
    fn push(&mut self, role: &str, content: Json, random: &mut Random) {
        self.add(object([("role", role.into()), ("content", content)]), random);
    }

    fn add(&mut self, message: Json, random: &mut Random) {
        self.messages.push(message.decorated(random));
    }

    fn step(&mut self, random: &mut Random) {
        match random.below(10) {
            0..=3 => self.push("user", content(random), random),
            4 | 5 => self.push("assistant", content(random), random),
            6..=7 => self.tool_calls(random),
            8 => self.function_call(random),
            _ => {
                let named = object([("role", "user".into()), ("content", words(random).into())]);
                self.add(named.with("name", "ada"), random);
            }
        }
    }

    fn tool_calls(&mut self, random: &mut Random) {
        let ids: Vec<_> = (0..random.within(1, 4)).map(|_| self.ids.next("call_")).collect();
        let calls: Vec<_> = ids.iter().map(|id| call(id, random)).collect();
        let content = if random.chance(50) { Json::Raw("null") } else { words(random).into() };
        let message = object([("role", "assistant".into()), ("content", content)]);
        self.add(message.with("tool_calls", calls), random);

        let mut results: Vec<_> = ids.iter().map(|id| result(id, random)).collect();
        if random.chance(50) {
            random.shuffle(&mut results);
        }
        for result in results {
            self.add(result, random);
        }
    }

    fn function_call(&mut self, random: &mut Random) {
        let call = object([("name", "look".into()), ("arguments", "{}".into())]);
        let message = object([("role", "assistant".into()), ("content", Json::Raw("null"))]);
        self.add(message.with("function_call", call), random);
        let answer = object([("role", "function".into()), ("name", "look".into())]);
        self.add(answer.with("content", words(random)), random);
    }
}

fn call(id: &str, random: &mut Random) -> Json {
    let function = object([("name", "read".into()), ("arguments", "{\"path\": \"a b\"}".into())]);
    object([("id", id.into()), ("type", "function".into()), ("function", function)])
        .decorated(random)
}

fn result(id: &str, random: &mut Random) -> Json {
    let content = if random.chance(20) { "".into() } else { content(random) };
    object([("role", "tool".into()), ("tool_call_id", id.into()), ("content", content)])
}

fn content(random: &mut Random) -> Json {
    match random.below(6) {
        0 => vec![text_part(random), text_part(random)].into(),
        1 => vec![text_part(random), image(random)].into(),
        _ => words(random).into(),
    }
}

fn text_part(random: &mut Random) -> Json {
    object([("type", "text".into()), ("text", words(random).into())]).decorated(random)
}

fn image(random: &mut Random) -> Json {
    let url =
        object([("url", "data:image/png;base64,iVBORw0KGgo=".into()), ("detail", "low".into())]);
    object([("type", "image_url".into()), ("image_url", url)]).decorated(random)
}

fn tool(random: &mut Random) -> Json {
    let path = object([("type", "string".into()), ("description", words(random).into())]);
    let parameters = object([("type", "object".into()), ("properties", object([("path", path)]))]);
    let function = object([("name", "read".into()), ("parameters", parameters)]);
    object([("type", "function".into()), ("function", function)]).decorated(random)
}
