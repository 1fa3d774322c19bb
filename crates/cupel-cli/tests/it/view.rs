//! `cupel view` and `cupel explain --html`: the page, served to this machine alone or as one file.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::support::{Folder, assert_cannot_run, cupel, run};

/// The command at work, and the port that it serves on.
struct Served {
    child: Child,
    port: u16,
    token: String,
}

impl Served {
    fn start() -> Self {
        let mut command = cupel(&["view", "examples/support-chat.json", "--no-open"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = port.split_once("/cupel?token=").unwrap();
        let (port, token) = (port.parse().unwrap(), token.to_owned());
        Self { child, port, token }
    }

    fn ask(&self, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_page_is_served_under_its_policy_to_whoever_asks_this_machine() {
    let served = Served::start();
    let own = format!("127.0.0.1:{}", served.port);
    assert!(served.ask("/cupel", &own).starts_with("HTTP/1.1 403 "), "it needs its token");
    let page = served.ask(&format!("/cupel?token={}", served.token), &own);
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(page.contains("content-security-policy: default-src 'none'; script-src 'self';"));
    assert!(page.contains("id=\"view\">{\"schema\":\"cupel-view/1\""));
    let script = served.ask("/cupel/app.js", &own);
    assert!(script.contains("content-type: text/javascript"), "{script}");
    assert!(served.ask("/cupel/nothing.js", &own).starts_with("HTTP/1.1 404 "));
    assert!(served.ask("/cupel", "evil.example").starts_with("HTTP/1.1 421 "));
}

#[test]
fn a_file_is_the_whole_page() {
    let folder = Folder::new();
    let file = folder.file("window.html");
    let ran = run(&["explain", "examples/support-chat.json", "--max", "750", "--html", &file]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("http-equiv=\"Content-Security-Policy\""));
    assert!(!page.contains("src=\"/cupel"));
    // It is a file to be sent: the folder is nobody's business.
    assert!(page.contains("\"title\":\"support-chat.json\""));
    assert!(page.contains("\"opening\":{\"size\":750,\"reason\":\"given\",\"limit\":750"));
}

#[test]
fn a_page_never_replaces_its_request() {
    let chat = "examples/support-chat.json";
    let told = format!(
        "{chat}: is the input; write to another file (`select` can replace it with --in-place)"
    );
    assert_cannot_run(&["explain", chat, "--html", chat], &told);
}

#[test]
fn a_page_and_json_are_not_one() {
    let ran = run(&["explain", "examples/support-chat.json", "--html", "x.html", "--json"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
}
