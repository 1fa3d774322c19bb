//! Cohere: Chat Completions with documents.

use super::{Ids, Json, bare_or_wrapped, object, words};
use crate::random::Random;

pub(crate) fn request(random: &mut Random) -> String {
    let mut messages = Vec::new();
    let mut ids = Ids::default();
    if random.chance(50) {
        messages.push(message("system", words(random).into(), random));
    }
    for _ in 0..random.within(1, 8) {
        match random.below(10) {
            0..=4 => messages.push(message("user", words(random).into(), random)),
            5 | 6 => {
                let text = object([("type", "text".into()), ("text", words(random).into())]);
                messages.push(message("assistant", vec![text].into(), random));
            }
            _ => exchange(&mut messages, &mut ids, random),
        }
    }
    let mut around = vec![("model", "command-a-03-2025".into()), ("safety_mode", "OFF".into())];
    if random.chance(50) {
        let document =
            object([("id", "d1".into()), ("data", object([("t", words(random).into())]))]);
        around.push(("documents", vec![document, words(random).into()].into()));
    }
    bare_or_wrapped("messages", messages, around, random)
}

fn exchange(messages: &mut Vec<Json>, ids: &mut Ids, random: &mut Random) {
    let ids: Vec<String> = (0..random.within(1, 3)).map(|_| ids.next("look_")).collect();
    let call = |id: &String| {
        let function = object([("name", "look".into()), ("arguments", "{\"at\":1}".into())]);
        object([("id", id.as_str().into()), ("type", "function".into()), ("function", function)])
    };
    let calls: Vec<Json> = ids.iter().map(call).collect();
    let plan = object([("role", "assistant".into()), ("tool_plan", words(random).into())]);
    messages.push(plan.with("tool_calls", calls).decorated(random));
    for id in ids {
        let data = object([("data", words(random).into()), ("id", "0".into())]);
        let document = object([("type", "document".into()), ("document", data)]);
        let result = object([("role", "tool".into()), ("tool_call_id", id.into())]);
        let is_text = random.chance(50);
        let content = if is_text { words(random).into() } else { Json::from(vec![document]) };
        messages.push(result.with("content", content).decorated(random));
    }
}

fn message(role: &str, content: Json, random: &mut Random) -> Json {
    object([("role", role.into()), ("content", content)]).decorated(random)
}
