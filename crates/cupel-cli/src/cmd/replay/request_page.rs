//! The page of one request.

use std::sync::Arc;

use cupel_engine::{Engine, Options};

use crate::render::plot::escaped;

/// What was kept of a request and why, as a page of its own; `None` if it cannot be explained.
pub(super) fn of(engine: &Engine, request: &Arc<str>, max_tokens: Option<i64>, place: &str) -> Option<String> {
    let options = max_tokens.map_or_else(Options::new, |tokens| Options::new().max_tokens(tokens));
    let explanation = engine.explain(request.clone(), &options).ok()?;
    let json = serde_json::to_string_pretty(&explanation).ok()?;
    let title = escaped(place);
    Some(format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n<h1>{title}</h1>\n<pre>{}</pre>\n",
        json.lines().map(escaped).collect::<Vec<_>>().join("\n")
    ))
}
