//! The AI SDK: model messages and UI messages.

use super::{Ids, Json, bare_or_wrapped, object, words};
use crate::random::Random;

pub(crate) fn model_messages(random: &mut Random) -> String {
    let mut messages = Vec::new();
    let mut ids = Ids::default();
    if random.chance(50) {
        messages.push(message("system", words(random).into(), random));
    }
    for _ in 0..random.within(1, 5) {
        messages.push(message("user", said(random), random));
        for _ in 0..random.pick(&[0, 0, 1, 1, 2, 4]) {
            exchange(&mut messages, &mut ids, random);
        }
        if random.chance(60) {
            messages.push(message("assistant", vec![text(random)].into(), random));
        }
    }
    let mut around = Vec::new();
    if random.chance(50) {
        around.push(("system", words(random).into()));
    }
    bare_or_wrapped("messages", messages, around, random)
}

fn exchange(messages: &mut Vec<Json>, ids: &mut Ids, random: &mut Random) {
    let mut parts = Vec::new();
    if random.chance(20) {
        parts.push(object([("type", "reasoning".into()), ("text", words(random).into())]));
    }
    if random.chance(40) {
        parts.push(text(random));
    }
    if random.chance(15) {
        // The provider calls and answers by itself.
        let id = ids.next("srv_");
        parts.push(call(&id).with("providerExecuted", Json::Raw("true")));
        parts.push(result(&id, random));
    }
    let ids: Vec<String> = (0..random.within(1, 3)).map(|_| ids.next("call_")).collect();
    parts.extend(ids.iter().map(|id| call(id)));
    messages.push(message("assistant", parts.into(), random));
    let mut results: Vec<Json> = ids.iter().map(|id| result(id, random)).collect();
    if random.chance(50) {
        random.shuffle(&mut results);
    }
    if random.chance(50) {
        messages.push(message("tool", results.into(), random));
        return;
    }
    for result in results {
        messages.push(message("tool", vec![result].into(), random));
    }
}

fn call(id: &str) -> Json {
    let part = object([("type", "tool-call".into()), ("toolCallId", id.into())]);
    part.with("toolName", "look").with("input", object([("at", Json::Raw("1.0"))]))
}

fn result(id: &str, random: &mut Random) -> Json {
    let output = match random.below(4) {
        0 => {
            object([("type", "json".into()), ("value", object([("found", words(random).into())]))])
        }
        1 => object([("type", "error-text".into()), ("value", words(random).into())]),
        2 => object([("type", "content".into()), ("value", vec![text(random)].into())]),
        _ => object([("type", "text".into()), ("value", words(random).into())]),
    };
    let part = object([("type", "tool-result".into()), ("toolCallId", id.into())]);
    part.with("toolName", "look").with("output", output)
}

fn message(role: &str, content: Json, random: &mut Random) -> Json {
    object([("role", role.into()), ("content", content)]).decorated(random)
}

fn said(random: &mut Random) -> Json {
    match random.below(10) {
        0 => {
            let image = object([("type", "image".into()), ("image", "iVBORw0KGgo=".into())]);
            vec![text(random), image].into()
        }
        1..=3 => vec![text(random)].into(),
        _ => words(random).into(),
    }
}

fn text(random: &mut Random) -> Json {
    object([("type", "text".into()), ("text", words(random).into())])
}

pub(crate) fn ui_messages(random: &mut Random) -> String {
    let mut messages = Vec::new();
    let mut ids = Ids::default();
    if random.chance(30) {
        messages.push(ui_message("system", vec![text(random)], &mut ids, random));
    }
    for _ in 0..random.within(1, 6) {
        messages.push(ui_message("user", vec![text(random)], &mut ids, random));
        if random.chance(85) {
            let parts = steps(&mut ids, random);
            messages.push(ui_message("assistant", parts, &mut ids, random));
        }
    }
    let around = vec![("id", "chat_1".into()), ("trigger", "submit-message".into())];
    bare_or_wrapped("messages", messages, around, random)
}

fn ui_message(role: &str, parts: Vec<Json>, ids: &mut Ids, random: &mut Random) -> Json {
    let message = object([("id", ids.next("msg_").into()), ("role", role.into())]);
    message.with("parts", parts).decorated(random)
}

fn steps(ids: &mut Ids, random: &mut Random) -> Vec<Json> {
    let mut parts = vec![object([("type", "step-start".into())])];
    for _ in 0..random.pick(&[0, 1, 1, 2]) {
        let kind = random.pick(&["tool-look", "dynamic-tool"]);
        let part = object([("type", kind.into()), ("toolCallId", ids.next("call_").into())]);
        let part = if kind == "dynamic-tool" { part.with("toolName", "look") } else { part };
        let part = part.with("input", object([("at", Json::Raw("1.0"))]));
        parts.push(match random.below(3) {
            0 => part.with("state", "output-error").with("errorText", words(random)),
            _ => part.with("state", "output-available").with("output", words(random)),
        });
    }
    if random.chance(80) {
        parts.push(text(random).with("state", "done"));
    }
    parts
}
