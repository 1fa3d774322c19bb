//! Agents with a gateway beside them.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::support::Folder;

/// A program of the name in a folder of its own, and the folder to put into `PATH`.
fn program(folder: &Folder, name: &str, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.write(name, format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    Path::new(&path).parent().unwrap().to_str().unwrap().to_owned()
}

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn cupel(arguments: &[&str], path: &str, home: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cupel"));
    command.args(arguments).env_clear().env("PATH", format!("{path}:/usr/bin:/bin"));
    let output = command.env("HOME", home).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

#[test]
fn an_agent_gets_the_address_its_arguments_and_the_last_word() {
    let folder = Folder::new();
    let path = program(&folder, "claude", "echo \"$ANTHROPIC_BASE_URL|$*\"; exit 7");
    let ran = cupel(&["wrap", "claude", "--", "-p", "a b"], &path, &path);
    assert_eq!(ran.code, Some(7), "{}", ran.stderr);
    assert!(
        ran.stdout.starts_with("http://127.0.0.1:") && ran.stdout.ends_with("|-p a b\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.starts_with("cupel: page at http://127.0.0.1:"), "{}", ran.stderr);
    assert!(
        ran.stderr.ends_with("cupel: no request was made to fit; `cupel doctor` may say why\n"),
        "{}",
        ran.stderr
    );
    let path = program(&folder, "codex", "echo \"$*\"; kill -9 $$");
    let ran = cupel(&["wrap", "codex", "--", "exec"], &path, &path);
    assert_eq!(ran.code, Some(128 + 9));
    assert!(ran.stdout.starts_with("-c openai_base_url=\"http://127.0.0.1:"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("/v1\" exec\n"), "{}", ran.stdout);
}

#[test]
fn a_program_asks_through_the_gateway_and_hears_what_was_saved() {
    let folder = Folder::new();
    let upstream = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", upstream.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = upstream.accept().unwrap();
        let mut request = Vec::new();
        let mut bytes = [0; 4096];
        while !request.windows(7).any(|seven| seven == b"the end") {
            let read = stream.read(&mut bytes).unwrap();
            assert!(read > 0);
            request.extend_from_slice(&bytes[..read]);
        }
        let answer =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    });
    let words = "so many words that there is no room for all of them here ".repeat(40);
    let body = serde_json::json!({ "model": "m", "messages": [
        { "role": "user", "content": words }, { "role": "assistant", "content": words },
        { "role": "user", "content": "the end" },
    ] });
    let body = folder.write("body.json", body.to_string());
    // A shell that has a network, or nothing here could ask.
    let script = format!(
        "host=${{OPENAI_BASE_URL#http://}}; host=${{host%%/*}}; exec 3<>/dev/tcp/${{host%:*}}/${{host#*:}}; \
         printf 'POST /openai/v1/chat/completions HTTP/1.1\\r\\nhost: %s\\r\\nconnection: close\\r\\ncontent-length: %s\\r\\n\\r\\n' \
         $host $(wc -c < {body}) >&3; cat {body} >&3; cat <&3"
    );
    let ran = cupel(
        &["wrap", "any", "--upstream", &url, "--max", "200", "--", "bash", "-c", &script],
        "/usr/bin",
        "/nowhere",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("HTTP/1.1 200 OK"), "{}{}", ran.stdout, ran.stderr);
    let sent = serving.join().unwrap();
    assert!(
        sent.starts_with("POST /v1/chat/completions HTTP/1.1"),
        "the folder is the gateway's: {sent}"
    );
    assert!(sent.len() < 1_000, "about 5,000 bytes came: {sent}");
    assert!(ran.stderr.contains("cupel: 1 made to fit of 1 request; "), "{}", ran.stderr);
}

#[test]
fn what_cannot_run_is_said_with_what_to_do() {
    for (arguments, words) in [
        (&["wrap", "any"][..], "no program to run; name it behind two dashes"),
        (&["wrap", "claude"], "claude: cannot be started: "),
        (&["wrap", "claude", "--upstream", "ftp://x", "--"], "must begin with https:// or http://"),
        (&["wrap", "claude", "--config", "/no/such.toml"], "/no/such.toml: cannot read"),
        (&["wrap", "emacs"], "invalid value 'emacs'"),
    ] {
        let ran = cupel(arguments, "/nowhere", "/nowhere");
        assert_eq!(ran.code, Some(2), "{arguments:?} {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{arguments:?} {}", ran.stderr);
    }
}

#[test]
fn a_doctor_says_what_is_configured_reachable_and_installed() {
    let folder = Folder::new();
    let path = program(&folder, "claude", "echo '2.0 (an agent)'");
    let found = cupel(&["doctor", "claude"], &path, &path);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    for line in [
        "claude: 2.0 (an agent)",
        "asks https://api.anthropic.com",
        "tells it by ANTHROPIC_BASE_URL",
    ] {
        assert!(found.stdout.contains(line), "{line} {}", found.stdout);
    }
    let missing = cupel(&["doctor", "codex"], "/nowhere", &path);
    assert_eq!(
        (missing.code, missing.stdout.contains("codex: is not on the PATH")),
        (Some(1), true)
    );

    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).unwrap_or(0);
            let asked = String::from_utf8_lossy(&bytes[..read]).into_owned();
            let (status, body) = if asked.starts_with("GET /v1/models ") {
                ("200 OK", r#"{"data":[{"id":"qwen","max_model_len":32768}]}"#)
            } else {
                ("404 Not Found", "{}")
            };
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    let found = cupel(&["doctor", "--upstream", &url], "/nowhere", &path);
    assert!(found.stdout.contains(&format!("{url}: answers with 200 after ")), "{}", found.stdout);
    assert!(
        found.stdout.contains("qwen: a window of 32,768 tokens, as it says"),
        "{}",
        found.stdout
    );
    let gone = cupel(&["doctor", "--upstream", "http://127.0.0.1:1"], "/nowhere", &path);
    assert_eq!(gone.code, Some(1));
    assert!(gone.stdout.contains("http://127.0.0.1:1: cannot be reached: "), "{}", gone.stdout);
}
