//! Cupel's own items.

use super::{Json, object, words};
use crate::random::Random;

/// An array of items, or an object around it.
pub(crate) fn request(random: &mut Random) -> String {
    let items: Vec<_> = (0..random.within(1, 8)).map(|_| item(random)).collect();
    if random.chance(50) {
        Json::List(items).write(random)
    } else {
        object([("items", items.into())]).write(random)
    }
}

/// One item a line.
pub(crate) fn lines(random: &mut Random) -> String {
    let end = random.pick(&["\n", "\r\n"]);
    let mut text = String::new();
    for position in 0..random.within(1, 8) {
        if position > 0 {
            text.push_str(end);
        }
        if random.chance(10) {
            text.push_str(end);
        }
        text.push_str(&item(random).write_line(random));
    }
    if random.chance(70) {
        text.push_str(end);
    }
    text
}

fn item(random: &mut Random) -> Json {
    let mut item = object([("content", words(random).into())]);
    if random.chance(60) {
        item = item.with("tokens", Json::Raw(random.pick(&["0", "1", "7", "12"])));
    }
    if random.chance(50) {
        item = item.with("kind", random.pick(&["Message", "Document", "ToolOutput", "Memory"]));
    }
    if random.chance(30) {
        item = item
            .with("timestamp", random.pick(&["2026-01-02T03:04:05Z", "2025-12-31T23:59:59+01:00"]));
    }
    if random.chance(20) {
        item = item.with("priority", Json::Raw("5")).with("tags", vec!["a".into(), "b".into()]);
    }
    if random.chance(15) {
        item = item.with("pinned", Json::Raw("true"));
    }
    if random.chance(15) {
        let priority = Json::Raw(random.pick(&["0.3", "1", "1.0", "0"]));
        let annotations =
            object([("audience", vec!["user".into()].into()), ("priority", priority)]);
        item = item.with("annotations", annotations);
    }
    item.decorated(random)
}
