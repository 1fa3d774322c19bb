//! How long a step of a session takes as the history grows, beside choosing the window anew.
//!
//! ```sh
//! cargo run --release -p cupel-engine --example session_steps -- 500 1000 2000
//! ```

use std::time::Instant;

use cupel_engine::{Engine, EngineError};

/// Steps that are timed for each length of the history.
const STEPS: usize = 15;

fn main() -> Result<(), EngineError> {
    println!("messages  step (ms)  anew (ms)  step by anew");
    let asked: Vec<usize> = std::env::args().filter_map(|length| length.parse().ok()).collect();
    let lengths = if asked.is_empty() { vec![500, 1_000, 2_000, 4_000, 8_000] } else { asked };
    for messages in lengths.into_iter().filter(|length| *length > 1) {
        let engine = Engine::builder().max_tokens(8_000).tokenizer("o200k_base").build()?;
        let history = history(messages + 2 * STEPS);
        let request = |count: usize| format!("[{}]", history[..count].join(","));
        let mut session = engine.session();
        session.next(request(messages - 1))?;
        session.accept();
        let (mut in_session, mut anew) = (Vec::new(), Vec::new());
        for step in 1..=STEPS {
            let text = request(messages - 1 + 2 * step);
            let begun = Instant::now();
            session.next(text.as_str())?;
            in_session.push(begun.elapsed().as_secs_f64() * 1e3);
            session.accept();
            let begun = Instant::now();
            engine.select(text.as_str())?;
            anew.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        let (step, anew) = (median(&mut in_session), median(&mut anew));
        println!("{messages:8}  {step:9.2}  {anew:9.2}  {:12.2}", step / anew);
    }
    Ok(())
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
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
