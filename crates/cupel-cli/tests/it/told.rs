//! Flags are taken at their word, and statements of the command are true.

use serde_json::{Value, json};

use crate::support::{Folder, Run, run, run_with};

/// A talk of so many questions, each with its answer, and one question more.
fn talk(model: &str, questions: usize) -> String {
    let mut messages = vec![json!({"role": "system", "content": "You help with deploys."})];
    for at in 0..questions {
        let question = format!("Why did job {at} fail last night?");
        messages.push(json!({"role": "user", "content": question}));
        let answer = format!("The disk of host {at} was full. {}", "See the log. ".repeat(at % 4));
        messages.push(json!({"role": "assistant", "content": answer}));
    }
    messages.push(json!({"role": "user", "content": "And what about job 1?"}));
    json!({"model": model, "messages": messages}).to_string()
}

fn answer(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"))
}

/// Twenty pages, in 3 MB of base64.
fn request_with_pdf() -> String {
    let page = |at: usize| format!("{at} 0 obj << /Type /Page /Parent 1 0 R >> endobj\n");
    let pages: String = (2..22).map(page).collect();
    let pdf =
        format!("%PDF-1.4\n{pages}{}%%EOF\n", "stream of whatever draws them ".repeat(75_000));
    let source =
        json!({"type": "base64", "media_type": "application/pdf", "data": base64(pdf.as_bytes())});
    let content =
        json!([{"type": "document", "source": source}, {"type": "text", "text": "Sum it up."}]);
    json!({"model": "claude-sonnet-4-5", "max_tokens": 900, "messages": [{"role": "user", "content": content}]})
        .to_string()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let number = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let index = (number >> (18 - 6 * digit)) as usize % 64;
            text.push(if digit > chunk.len() { '=' } else { char::from(DIGITS[index]) });
        }
    }
    text
}

#[test]
fn a_large_pdf_counts_its_pages_and_does_not_fit_a_small_window() {
    let counted = answer(&run_with(&["count", "--json"], &request_with_pdf()));
    let tokens = counted["total_tokens"].as_i64().unwrap_or_else(|| panic!("{counted}"));
    assert!((20 * 1_500..=20 * 6_000).contains(&tokens), "{counted}");
    assert_eq!(counted["is_estimate"], true);
    let selected = run_with(&["select", "--max=200"], &request_with_pdf());
    assert_eq!((selected.code, selected.stdout.as_str()), (Some(1), ""), "{}", selected.stderr);
}

#[test]
fn the_shape_of_a_request_decides_its_format_and_the_model_never() {
    for model in ["anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro", "gpt-4o"] {
        let valid = run_with(&["validate"], &talk(model, 3)).stdout;
        assert!(valid.contains("a valid openai-chat request"), "{model}: {valid}");
    }
}

#[test]
fn tokens_are_read_as_people_write_them() {
    let selected = run_with(&["select", "--max=1.5k"], &talk("gpt-4o", 3));
    assert_eq!(selected.code, Some(0), "{selected:?}");
    assert!(selected.stderr.contains("of 1,500 tokens"), "{}", selected.stderr);
}

#[test]
fn a_pin_that_matches_nothing_is_an_error() {
    for pin in ["99", "field:important=true", "role:tool"] {
        let refused = run_with(&["select", "--max=300", "--pin", pin], &talk("gpt-4o", 3));
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{pin}: {refused:?}");
        assert!(refused.stderr.contains(&format!("pin `{pin}`: ")), "{}", refused.stderr);
    }
}

#[test]
fn an_unknown_model_is_told_of_max() {
    let refused = run_with(&["select", "--model=eliza"], &talk("gpt-4o", 3));
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--max"), "{}", refused.stderr);
}

#[test]
fn a_report_says_of_every_message_whether_it_stayed_and_why() {
    let folder = Folder::new();
    let (request, report) =
        (folder.write("request.json", talk("gpt-4o", 12)), folder.file("why.json"));
    let selected = run(&["select", &request, "--max=150", "--quiet", "--report", &report]);
    assert_eq!(selected.code, Some(0), "{selected:?}");
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["schema"], "cupel/1");
    let parts = |list: &str| report[list].as_array().unwrap().clone();
    let (kept, left_out) = (parts("kept"), parts("left_out"));
    let stayed = answer(&selected)["messages"].as_array().unwrap().len();
    assert_eq!(kept.len(), stayed, "{report}");
    assert_eq!(kept.len() + left_out.len(), 26);
    assert!(kept.iter().all(|part| part["reason"].is_string()), "{report}");
    assert!(left_out.iter().all(|part| part["why"]["reason"].is_string()), "{report}");
    assert!(left_out.iter().any(|part| !part["room_taken_by"].as_array().unwrap().is_empty()));
}

#[test]
fn the_margin_that_is_asked_for_is_kept_free() {
    let select = |margin: &[&str]| {
        let arguments = [&["select", "--max=300"], margin].concat();
        run_with(&arguments, &talk("claude-sonnet-4-5", 24)).stderr
    };
    // A tenth of what competes, since what is pinned takes some of the window.
    let asked = select(&["--margin=10%"]);
    assert!(asked.contains("(estimated like claude, 9 % kept free for errors)"), "{asked}");
    let tokens: i64 = asked.split(' ').nth(5).unwrap().parse().unwrap();
    assert!((1..=270).contains(&tokens), "{asked}");
    assert!(
        select(&["--margin=0%"]).contains("(estimated like claude)"),
        "{}",
        select(&["--margin=0%"])
    );
}

#[test]
fn unless_one_is_asked_for_the_margin_is_the_bound_of_the_estimate() {
    let margin = |text: &str| {
        let request =
            json!({"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": text}]});
        let selected = run_with(&["select", "--max=5000"], &request.to_string()).stderr;
        let percent = selected.split(" % kept free").next().unwrap().rsplit(' ').next().unwrap();
        percent.parse::<i64>().unwrap_or_else(|_| panic!("{selected}"))
    };
    let english =
        margin(&"The disk of the host was full, and that is why the job failed. ".repeat(9));
    let indonesian =
        margin(&"Ruang penyimpanan habis, sehingga pemasangan versi baru gagal. ".repeat(9));
    assert!((5..=25).contains(&english), "{english}");
    assert!((english + 5..=50).contains(&indonesian), "{english} {indonesian}");
}

#[test]
fn with_alternate_no_two_user_turns_follow_each_other() {
    let repeats = |flags: &[&str]| {
        let arguments = [&["select", "--max=150", "--quiet"], flags].concat();
        let selected = answer(&run_with(&arguments, &talk("gpt-4o", 12)));
        let messages = selected["messages"].as_array().unwrap();
        messages.windows(2).filter(|pair| pair.iter().all(|turn| turn["role"] == "user")).count()
    };
    assert!(repeats(&[]) > 0, "nothing to alternate");
    assert_eq!(repeats(&["--alternate"]), 0);
}
