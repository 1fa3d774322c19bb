//! The page of one request.

use cupel_engine::{Engine, EngineError, Options};
use cupel_page::{RunPoint, View, ViewOptions, single_file};
use cupel_replay::{Way, WorstText};

/// A request at every budget and why things are kept, as a page of its own that opens at this window; of
/// a session, the step as it was made. `None` if it cannot be shown.
pub(super) fn of(engine: &Engine, text: &WorstText, way: &Way, title: &str) -> Option<String> {
    let options = way.options();
    let how = ViewOptions::new().title(title);
    let view = if way.in_session {
        step(engine, text, &options, &how)
    } else {
        View::of_request(engine, text.request.clone(), &options, &how)
    };
    Some(single_file(&view.ok()?))
}

/// The step is made again from where its session was: the same comes of it.
fn step(
    engine: &Engine,
    text: &WorstText,
    options: &Options,
    how: &ViewOptions,
) -> Result<View, EngineError> {
    let mut session = match &text.session {
        Some(state) => engine.resume((**state).clone()),
        None => engine.session(),
    };
    let step = session.next_with(text.request.clone(), options, None)?;
    let before = text.session.as_deref().map(RunPoint::of_state);
    let run: Vec<RunPoint> = before.into_iter().chain([RunPoint::of(&step)]).collect();
    View::of_step(engine, text.request.clone(), options, &step, &run, how)
}
