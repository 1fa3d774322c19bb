//! Gemini contents, in both spellings.

use super::{Ids, Json, bare_or_wrapped, object, words};
use crate::random::Random;

pub(crate) fn request(random: &mut Random) -> String {
    let mut chat = Chat { contents: Vec::new(), ids: Ids::default(), snake: random.chance(30) };
    if random.chance(5) {
        chat.contents.push(object([("parts", vec![text(random)].into())]));
    } else {
        (0..random.within(1, 4)).for_each(|_| chat.turn(random));
    }

    let mut config = object([("maxOutputTokens", Json::Raw("500"))]);
    if random.chance(20) {
        let schema = object([("type", "OBJECT".into()), ("title", words(random).into())]);
        config = config.with("responseSchema", schema);
    }
    let mut around = vec![(random.pick(&["generationConfig", "config"]), config)];
    if random.chance(50) {
        let name = if chat.snake { "system_instruction" } else { "systemInstruction" };
        around.push((name, object([("parts", vec![text(random)].into())])));
    }
    if random.chance(40) {
        let name = if chat.snake { "function_declarations" } else { "functionDeclarations" };
        let declaration = object([("name", "look".into()), ("description", words(random).into())]);
        around.push(("tools", vec![object([(name, vec![declaration].into())])].into()));
    }
    bare_or_wrapped("contents", chat.contents, around, random)
}

struct Chat {
    contents: Vec<Json>,
    ids: Ids,
    snake: bool,
}

impl Chat {
    fn add(&mut self, role: &str, parts: Vec<Json>, random: &mut Random) {
        let content = object([("role", role.into()), ("parts", parts.into())]);
        self.contents.push(content.decorated(random));
    }

    fn turn(&mut self, random: &mut Random) {
        let image = object([("mimeType", "image/png".into()), ("data", "iVBORw0KGgo=".into())]);
        let inline = if self.snake { "inline_data" } else { "inlineData" };
        let mut parts = vec![text(random)];
        if random.chance(20) {
            parts.push(object([(inline, image)]));
        }
        self.add("user", parts, random);
        if random.chance(10) {
            self.add("user", vec![text(random)], random);
        }
        for _ in 0..random.pick(&[0, 0, 1, 1, 2, 3, 6]) {
            self.calls(random);
        }
        if random.chance(60) {
            self.add("model", vec![text(random)], random);
        }
    }

    fn calls(&mut self, random: &mut Random) {
        let (call, response) = if self.snake {
            ("function_call", "function_response")
        } else {
            ("functionCall", "functionResponse")
        };
        let mut parts = Vec::new();
        if random.chance(30) {
            parts.push(text(random));
        }
        let mut responses = Vec::new();
        for _ in 0..random.within(1, 3) {
            let name = random.pick(&["look", "read"]);
            let id = random.chance(50).then(|| self.ids.next("fc"));
            let mut asked =
                object([("name", name.into()), ("args", object([("at", Json::Raw("1e3"))]))]);
            let mut said = object([
                ("name", name.into()),
                ("response", object([("text", words(random).into())])),
            ]);
            if let Some(id) = id {
                asked = asked.with("id", id.as_str());
                said = said.with("id", id);
            }
            parts.push(object([(call, asked)]).decorated(random));
            responses.push(object([(response, said)]).decorated(random));
        }
        self.add("model", parts, random);
        if random.chance(50) {
            random.shuffle(&mut responses);
        }
        self.add(random.pick(&["user", "function"]), responses, random);
    }
}

fn text(random: &mut Random) -> Json {
    object([("text", words(random).into())])
}
