//! Measures the processor time of a session's steps as the history grows, beside choosing the window
//! anew.
//!
//! ```sh
//! cargo run --release -p cupel-engine --example session_steps -- 500 1000 2000
//! ```

mod clock;

use std::sync::Arc;

use clock::Clock;
use cupel_engine::{Engine, EngineError};

/// Steps that are timed for each length of the history: together, since few clocks of processor time tell
/// milliseconds apart.
const STEPS: usize = 50;

fn main() -> Result<(), EngineError> {
    println!("messages  step (ms)  anew (ms)  step by anew");
    let asked: Vec<usize> = std::env::args().filter_map(|length| length.parse().ok()).collect();
    let lengths = if asked.is_empty() { vec![500, 1_000, 2_000, 4_000, 8_000] } else { asked };
    for messages in lengths.into_iter().filter(|length| *length > 1) {
        let engine = Engine::builder().max_tokens(8_000).tokenizer("o200k_base").build()?;
        let history = history(messages + STEPS + 2);
        let request = |count: usize| Arc::from(format!("[{}]", history[..count].join(",")));
        // Half of the steps are before the history has so many messages, half of them after; a call and
        // its result come together.
        let requests: Vec<Arc<str>> = (0..=STEPS)
            .map(|step| request((messages + 2 * step).saturating_sub(STEPS) | 1))
            .collect();
        let mut session = engine.session();
        session.next(requests[0].clone())?;
        session.accept();
        let step = milliseconds(&requests[1..], |text| {
            session.next(text)?;
            session.accept();
            Ok(())
        })?;
        let anew = milliseconds(&requests[1..], |text| engine.select(text).map(drop))?;
        println!("{messages:8}  {step:9.2}  {anew:9.2}  {:12.2}", step / anew);
    }
    Ok(())
}

/// Average time of these requests.
fn milliseconds(
    requests: &[Arc<str>],
    mut ask: impl FnMut(Arc<str>) -> Result<(), EngineError>,
) -> Result<f64, EngineError> {
    let begun = Clock::begin();
    for text in requests {
        ask(text.clone())?;
    }
    Ok(begun.seconds() * 1e3 / requests.len() as f64)
}

/// The messages of a coding agent, some 300 tokens for a call and its result.
fn history(count: usize) -> Vec<String> {
    let mut messages =
        vec![r#"{"role":"user","content":"Fix the bug in src/lib.rs, please."}"#.to_owned()];
    let mut state = 12_345_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % limit
    };
    while messages.len() < count {
        let id = messages.len();
        let lines: Vec<String> = (0..20)
            .map(|_| {
                format!("word{} src/file_{}.rs fn name_{}()", below(500), below(90), below(300))
            })
            .collect();
        let path = format!("src/file_{}.rs", below(90));
        messages.push(format!(
            r#"{{"role":"assistant","content":"I read {path}.","tool_calls":[{{"id":"c{id}","type":"function","function":{{"name":"read","arguments":"{path}"}}}}]}}"#
        ));
        messages.push(format!(
            r#"{{"role":"tool","tool_call_id":"c{id}","content":"{}"}}"#,
            lines.join(" ")
        ));
    }
    messages
}
