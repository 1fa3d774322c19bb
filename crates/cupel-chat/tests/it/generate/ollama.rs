//! Ollama: calls without ids, images beside the content.

use super::{Json, bare_or_wrapped, object, words};
use crate::random::Random;

pub(crate) fn request(random: &mut Random) -> String {
    let mut messages = Vec::new();
    if random.chance(50) {
        messages.push(message("system", random).decorated(random));
    }
    for _ in 0..random.within(1, 8) {
        match random.below(10) {
            0..=3 => messages.push(message("user", random).decorated(random)),
            4 => {
                let images = vec![Json::from("iVBORw0KGgo=")];
                messages.push(message("user", random).with("images", images));
            }
            5 | 6 => {
                let said = message("assistant", random);
                let thinks = random.chance(30);
                messages.push(if thinks { said.with("thinking", words(random)) } else { said });
            }
            _ => exchange(&mut messages, random),
        }
    }
    let mut around = vec![("model", "qwen3:14b".into()), ("keep_alive", "5m".into())];
    around.push(("options", object([("num_ctx", Json::Raw("8192"))])));
    if random.chance(50) {
        let function = object([("name", "look".into()), ("parameters", object([]))]);
        let tool = object([("type", "function".into()), ("function", function)]);
        around.push(("tools", vec![tool].into()));
    }
    bare_or_wrapped("messages", messages, around, random)
}

fn exchange(messages: &mut Vec<Json>, random: &mut Random) {
    let names: Vec<&str> =
        (0..random.within(1, 3)).map(|_| random.pick(&["look", "find", "read"])).collect();
    let call = |name: &&str| {
        let function =
            object([("name", (*name).into()), ("arguments", object([("at", "x".into())]))]);
        object([("function", function)])
    };
    let calls: Vec<Json> = names.iter().map(call).collect();
    messages.push(message("assistant", random).with("tool_calls", calls).decorated(random));
    let mut results: Vec<Json> =
        names.iter().map(|name| message("tool", random).with("tool_name", *name)).collect();
    if random.chance(30) {
        random.shuffle(&mut results);
    }
    messages.extend(results);
}

fn message(role: &str, random: &mut Random) -> Json {
    object([("role", role.into()), ("content", words(random).into())])
}
