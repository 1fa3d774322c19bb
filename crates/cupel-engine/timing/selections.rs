//! Number of requests of 100 messages an engine fits into a window, per second of processor time.
//!
//! ```sh
//! cargo run --release -p cupel-engine --example selections -- auto chat
//! ```
//!
//! Each argument is a policy, or a number: how often all requests are asked. The last column
//! is a hash of all windows, which no change of speed may change.

mod clock;

use std::hash::{DefaultHasher, Hash, Hasher};

use clock::Clock;
use cupel_engine::{Engine, EngineError};

const REQUESTS: u64 = 50;
const MESSAGES: usize = 100;

fn main() -> Result<(), EngineError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = arguments.iter().find_map(|word| word.parse().ok()).unwrap_or(20_u32);
    let mut policies: Vec<&str> = arguments.iter().map(String::as_str).collect();
    policies.retain(|word| word.parse::<u32>().is_err());
    if policies.is_empty() {
        policies = vec!["auto", "chat"];
    }
    let requests: Vec<String> = (0..REQUESTS).map(request).collect();
    let bytes: usize = requests.iter().map(String::len).sum();
    println!("{REQUESTS} requests of {MESSAGES} messages, {} bytes each", bytes / requests.len());
    println!("policy                requests/s  microseconds  windows");
    for policy in policies {
        let engine = Engine::builder()
            .policy(policy)
            .model("gpt-4o")
            .tokenizer("estimate")
            .max_tokens(6_000)
            .build()?;
        let begun = Clock::begin();
        let mut windows = DefaultHasher::new();
        for _ in 0..rounds {
            windows = DefaultHasher::new();
            for request in &requests {
                engine.select(request.as_str())?.text.hash(&mut windows);
            }
        }
        let seconds = begun.seconds() / f64::from(rounds) / requests.len() as f64;
        let hash = windows.finish();
        println!("{policy:20}  {:10.0}  {:12.1}  {hash:016x}", 1.0 / seconds, seconds * 1e6);
    }
    Ok(())
}

/// A conversation of talk and tools: every third is Anthropic's, the rest is OpenAI's.
fn request(seed: u64) -> String {
    let mut writer = Writer {
        state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        words: WORDS.split_whitespace().collect(),
        names: NAMES.split_whitespace().collect(),
    };
    let anthropic = seed % 3 == 2;
    let mut messages = Vec::with_capacity(MESSAGES);
    let system = "You are a careful engineer. Read before you write, and say what you found.";
    if !anthropic {
        messages.push(format!(r#"{{"role":"system","content":"{system}"}}"#));
    }
    while messages.len() + 4 < MESSAGES {
        messages.push(said("user", &writer.talk(1, 4)));
        for _ in 0..=writer.below(3) {
            let (call, result) = writer.exchange(messages.len(), anthropic);
            messages.extend([call, result]);
        }
        messages.push(said("assistant", &writer.talk(2, 7)));
    }
    messages.truncate(MESSAGES - 2);
    if messages.last().is_some_and(|last| last.contains("arguments") || last.contains("tool_use")) {
        messages.pop();
    }
    if messages.last().is_some_and(|last| last.starts_with(r#"{"role":"user"#)) {
        messages.push(said("assistant", &writer.talk(1, 2)));
    }
    while messages.len() < MESSAGES {
        let role = if (MESSAGES - messages.len()) % 2 == 1 { "user" } else { "assistant" };
        messages.push(said(role, &writer.talk(1, 3)));
    }
    let messages = messages.join(",\n");
    if anthropic {
        return format!(
            r#"{{"model":"claude-sonnet-4-5","max_tokens":1000,"system":"{system}","messages":[{messages}]}}"#
        );
    }
    format!(r#"{{"model":"gpt-4o","messages":[{messages}]}}"#)
}

fn said(role: &str, text: &str) -> String {
    format!(r#"{{"role":"{role}","content":{}}}"#, quoted(text))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes what people, models and tools say, the same for the same seed.
struct Writer {
    state: u64,
    words: Vec<&'static str>,
    names: Vec<&'static str>,
}

const WORDS: &str = "the of and to in is that it was for on are with as be this have from or had by \
    not but what all were when we there can an your which their if will each about how up out them \
    then she many some so these would other into has more her two like him time see no could make \
    than first been its who now people my made over did down only way find use may water long \
    little very after words called just where most know error index window budget token cache \
    message request response parse value field test build release server client deploy key card \
    table column query result file line path function module import return branch commit merge \
    review ticket customer order invoice payment refund shipping address warehouse stock price \
    because should never always before between through during without against however therefore \
    morning meeting report summary decision question answer problem reason change version number \
    latency memory thread process queue worker schedule retry timeout connection certificate token";
const NAMES: &str = "parse_request load_config merge_windows UserAccount token_budget OrderQueue \
    retry_count fetchInvoice rank_items cacheKey HttpClient write_report src/lib.rs src/main.rs \
    app/models/order.py tests/test_budget.py config.yaml README.md web/index.ts db/schema.sql";

impl Writer {
    fn below(&mut self, limit: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.state >> 33) % limit
    }

    fn word(&mut self) -> &'static str {
        let at = self.below(self.words.len() as u64) as usize;
        self.words[at]
    }

    fn name(&mut self) -> &'static str {
        let at = self.below(self.names.len() as u64) as usize;
        self.names[at]
    }

    fn sentence(&mut self) -> String {
        let mut words: Vec<String> = Vec::new();
        for _ in 0..6 + self.below(14) {
            words.push(match self.below(14) {
                0 => format!("`{}`", self.name()),
                1 => self.below(10_000).to_string(),
                2 => format!("{},", self.word()),
                _ => self.word().to_owned(),
            });
        }
        let mut sentence = words.join(" ");
        if let Some(first) = sentence.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        sentence.push(if self.below(6) == 0 { '?' } else { '.' });
        sentence
    }

    fn talk(&mut self, least: u64, most: u64) -> String {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| self.sentence()).collect::<Vec<_>>().join(" ")
    }

    /// A call of a tool, and its result.
    fn exchange(&mut self, id: usize, anthropic: bool) -> (String, String) {
        let kind = self.below(4);
        let (tool, arguments) = match kind {
            0 => ("read_file", format!(r#"{{"path":"{}","limit":40}}"#, self.name())),
            1 => ("search", format!(r#"{{"query":"{} {}"}}"#, self.name(), self.word())),
            2 => ("run", format!(r#"{{"command":"cargo test {}"}}"#, self.name())),
            _ => ("list_orders", format!(r#"{{"customer":{}}}"#, self.below(9_000))),
        };
        let result = match kind {
            0 => self.code(),
            1 | 3 => self.rows(),
            _ => self.log(),
        };
        let (words, result) = (quoted(&self.talk(1, 2)), quoted(&result));
        if anthropic {
            return (
                format!(
                    r#"{{"role":"assistant","content":[{{"type":"text","text":{words}}},{{"type":"tool_use","id":"toolu_{id}","name":"{tool}","input":{arguments}}}]}}"#
                ),
                format!(
                    r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{id}","content":{result}}}]}}"#
                ),
            );
        }
        let arguments = quoted(&arguments);
        (
            format!(
                r#"{{"role":"assistant","content":{words},"tool_calls":[{{"id":"call_{id}","type":"function","function":{{"name":"{tool}","arguments":{arguments}}}}}]}}"#
            ),
            format!(r#"{{"role":"tool","tool_call_id":"call_{id}","content":{result}}}"#),
        )
    }

    fn code(&mut self) -> String {
        let lines = (0..10 + self.below(14)).map(|at| match self.below(4) {
            0 => format!("{at:4}    let {} = self.{}();", self.word(), self.name()),
            1 => format!("{at:4}    // {}", self.sentence()),
            2 => format!("{at:4}    if {} > {} {{", self.name(), self.below(500)),
            _ => format!("{at:4}    return {}({})?;", self.name(), self.word()),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn rows(&mut self) -> String {
        let rows = (0..6 + self.below(10)).map(|_| {
            format!(
                r#"{{"id":"ord-{}","status":"{}","total":{}.{:02},"note":"{} {}"}}"#,
                self.below(100_000),
                self.word(),
                self.below(900),
                self.below(100),
                self.word(),
                self.word()
            )
        });
        format!("[{}]", rows.collect::<Vec<_>>().join(","))
    }

    fn log(&mut self) -> String {
        let lines = (0..8 + self.below(10)).map(|_| {
            let outcome = if self.below(5) == 0 { "FAILED" } else { "ok" };
            format!("test {}::{} ... {outcome}", self.name(), self.word())
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}
