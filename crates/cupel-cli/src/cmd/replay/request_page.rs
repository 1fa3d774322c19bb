//! The page of one request.

use std::sync::Arc;

use cupel_engine::{Engine, Options};
use cupel_page::{View, ViewOptions, single_file};

/// A request at every budget and why things are kept, as a page of its own that opens at this window;
/// `None` if it cannot be shown.
pub(super) fn of(
    engine: &Engine,
    request: &Arc<str>,
    max_tokens: Option<i64>,
    place: &str,
) -> Option<String> {
    let options = max_tokens.map_or_else(Options::new, |tokens| Options::new().max_tokens(tokens));
    let how = ViewOptions::new().title(place);
    let view = View::of_request(engine, request.clone(), &options, &how).ok()?;
    Some(single_file(&view))
}
