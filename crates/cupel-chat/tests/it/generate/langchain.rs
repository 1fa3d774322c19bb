//! Dumped messages, in the three shapes in which they are dumped.

use super::{Ids, Json, bare_or_wrapped, object, words};
use crate::random::Random;

pub(crate) fn request(random: &mut Random) -> String {
    let shape = random.pick(&[Shape::Nested, Shape::Flat, Shape::Constructor]);
    let mut chat = Chat { messages: Vec::new(), ids: Ids::default(), shape };
    if random.chance(50) {
        let text = words(random);
        chat.add("system", vec![("content", text.into())], random);
    }
    if random.chance(10) {
        let greeting = words(random);
        chat.add("ai", vec![("content", greeting.into())], random);
    }
    (0..random.within(1, 4)).for_each(|_| chat.turn(random));
    bare_or_wrapped("messages", chat.messages, Vec::new(), random)
}

#[derive(Clone, Copy)]
enum Shape {
    /// `messages_to_dict`
    Nested,
    /// `model_dump`
    Flat,
    /// `dumpd`
    Constructor,
}

struct Chat {
    messages: Vec<Json>,
    ids: Ids,
    shape: Shape,
}

impl Chat {
    fn add(
        &mut self,
        kind: &'static str,
        mut fields: Vec<(&'static str, Json)>,
        random: &mut Random,
    ) {
        let message = match self.shape {
            Shape::Nested => {
                object([("type", kind.into()), ("data", Json::Object(fields).decorated(random))])
            }
            Shape::Flat => {
                fields.push(("type", kind.into()));
                Json::Object(fields)
            }
            Shape::Constructor => {
                let class = match kind {
                    "system" => "SystemMessage",
                    "human" => "HumanMessage",
                    "ai" => "AIMessage",
                    _ => "ToolMessage",
                };
                let path = ["langchain", "schema", "messages", class].map(Json::from).to_vec();
                let dump = object([("lc", Json::Raw("1")), ("type", "constructor".into())]);
                dump.with("id", path).with("kwargs", Json::Object(fields).decorated(random))
            }
        };
        self.messages.push(message.decorated(random));
    }

    fn turn(&mut self, random: &mut Random) {
        for _ in 0..if random.chance(10) { 2 } else { 1 } {
            let content = content(random);
            self.add("human", vec![("content", content)], random);
        }
        for _ in 0..random.pick(&[0, 0, 1, 1, 2, 3, 6]) {
            if random.chance(10) {
                let said = words(random);
                self.add("ai", vec![("content", said.into())], random);
            }
            self.calls(random);
        }
        if random.chance(60) {
            let text = words(random);
            self.add(
                "ai",
                vec![("content", text.into()), ("tool_calls", Vec::new().into())],
                random,
            );
        }
    }

    fn calls(&mut self, random: &mut Random) {
        let ids: Vec<_> = (0..random.within(1, 3)).map(|_| self.ids.next("call_")).collect();
        let calls = ids.iter().map(|id| {
            let call =
                object([("name", "look".into()), ("args", object([("at", Json::Raw("1.0"))]))]);
            call.with("id", id.as_str()).with("type", "tool_call")
        });
        let mut fields =
            vec![("content", "".into()), ("tool_calls", calls.collect::<Vec<_>>().into())];
        if random.chance(30) {
            let raw = ids.iter().map(|id| {
                let function = object([("name", "look".into()), ("arguments", "{}".into())]);
                object([("id", id.as_str().into()), ("function", function)])
            });
            let raw = raw.collect::<Vec<_>>();
            fields.push(("additional_kwargs", object([("tool_calls", raw.into())])));
        }
        self.add("ai", fields, random);
        let mut ids = ids;
        if random.chance(50) {
            random.shuffle(&mut ids);
        }
        for id in ids {
            let content = content(random);
            self.add("tool", vec![("content", content), ("tool_call_id", id.into())], random);
        }
    }
}

fn content(random: &mut Random) -> Json {
    if random.chance(20) {
        let part = object([("type", "text".into()), ("text", words(random).into())]);
        vec![part, words(random).into()].into()
    } else {
        words(random).into()
    }
}
