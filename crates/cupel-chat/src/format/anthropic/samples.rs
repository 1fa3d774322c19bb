//! Messages for tests.

pub(super) fn call(id: &str) -> String {
    format!(
        r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"ls","input":{{}}}}]}}"#
    )
}

pub(super) fn result(id: &str) -> String {
    format!(
        r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}]}}"#
    )
}

pub(super) fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

pub(super) fn list(messages: &[String]) -> String {
    format!("[{}]", messages.join(","))
}
