//! Bedrock Converse: roles alternate, so a turn ends with an answer unless it is the last.

use super::{Ids, Json, bare_or_wrapped, object, words};
use crate::random::Random;

pub(crate) fn request(random: &mut Random) -> String {
    let mut messages = Vec::new();
    let mut ids = Ids::default();
    let turns = random.within(1, 5);
    for turn in 0..turns {
        messages.push(message("user", said(random), random));
        for _ in 0..random.pick(&[0, 0, 1, 1, 2, 4]) {
            exchange(&mut messages, &mut ids, random);
        }
        if turn + 1 < turns || random.chance(40) {
            let mut content = said(random);
            if random.chance(20) {
                let thought = object([("text", words(random).into())]).with("signature", "c2ln");
                content.insert(0, block("reasoningContent", block("reasoningText", thought)));
            }
            messages.push(message("assistant", content, random));
        }
    }
    let mut around = vec![("modelId", "anthropic.claude-sonnet-4-5-20250929-v1:0".into())];
    around.push(("inferenceConfig", object([("maxTokens", Json::Raw("500"))])));
    if random.chance(60) {
        around.push(("system", vec![block("text", words(random).into())].into()));
    }
    if random.chance(60) {
        let schema = object([("json", object([("type", "object".into())]))]);
        let tool = object([("name", "look".into()), ("inputSchema", schema)]);
        around.push(("toolConfig", object([("tools", vec![block("toolSpec", tool)].into())])));
    }
    bare_or_wrapped("messages", messages, around, random)
}

fn exchange(messages: &mut Vec<Json>, ids: &mut Ids, random: &mut Random) {
    let ids: Vec<String> = (0..random.within(1, 3)).map(|_| ids.next("tooluse_")).collect();
    let mut calls = if random.chance(40) { said(random) } else { Vec::new() };
    for id in &ids {
        let call = object([("toolUseId", id.as_str().into()), ("name", "look".into())]);
        calls.push(block("toolUse", call.with("input", object([("at", Json::Raw("1.0"))]))));
    }
    messages.push(message("assistant", calls, random));
    let mut results: Vec<Json> = ids.iter().map(|id| result(id, random)).collect();
    if random.chance(50) {
        random.shuffle(&mut results);
    }
    if random.chance(15) {
        results.extend(said(random));
    }
    messages.push(message("user", results, random));
}

fn result(id: &str, random: &mut Random) -> Json {
    let content = match random.below(4) {
        0 => vec![block("json", object([("found", words(random).into())]))],
        1 => vec![block("text", words(random).into()), block("text", words(random).into())],
        _ => vec![block("text", words(random).into())],
    };
    let result = object([("toolUseId", id.into()), ("content", content.into())]);
    let result = if random.chance(20) { result.with("status", "error") } else { result };
    block("toolResult", result)
}

fn message(role: &str, content: Vec<Json>, random: &mut Random) -> Json {
    object([("role", role.into()), ("content", content.into())]).decorated(random)
}

fn said(random: &mut Random) -> Vec<Json> {
    let mut content = vec![block("text", words(random).into())];
    match random.below(12) {
        0 => {
            let source = object([("bytes", "iVBORw0KGgo=".into())]);
            let image = object([("format", "png".into()), ("source", source)]);
            content.push(block("image", image));
        }
        1 => content.push(block("cachePoint", object([("type", "default".into())]))),
        _ => {}
    }
    content
}

fn block(name: &'static str, body: Json) -> Json {
    object([(name, body)])
}
