//! The runner against real processes.

use std::path::PathBuf;
use std::time::Duration;

use cupel_conformance::protocol::{Placer, PlacingAnswer, PlacingTask};
use cupel_conformance::{Implementation, Options, Program, Refusal, Skip, Verdict, load, run};

fn conformance() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

fn program<const N: usize>(command: [&str; N]) -> Program {
    Program::new(command, Duration::from_secs(20))
}

fn shell(script: &str) -> Program {
    program(["sh", "-c", script])
}

fn place_nothing(program: &mut Program) -> Result<PlacingAnswer, Refusal> {
    program.place(&PlacingTask { placer: Placer::UShaped, items: vec![], scores: vec![] })
}

/// The text of a failure.
#[track_caller]
fn failure(program: &mut Program) -> String {
    match place_nothing(program) {
        Err(Refusal::Broken(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_python_program_passes_every_scoring_and_placing_vector() {
    let files = load(&[conformance()]).unwrap();
    let script = conformance().join("program.py");
    let mut python = program(["python3", script.to_str().unwrap()]);
    let options = Options {
        strict: true,
        filters: vec!["/scoring/".to_owned(), "/placing/".to_owned()],
        no_skips: true,
        ..Options::default()
    };
    let summary = run(&files, &mut python, &options);
    assert!(summary.is_success(), "{summary}");
    assert!(summary.passed() >= 5, "{summary}");
}

#[test]
fn what_the_python_program_does_not_do_is_skipped() {
    let files = load(&[conformance().join("required/slicing")]).unwrap();
    let script = conformance().join("program.py");
    let mut python = program(["python3", script.to_str().unwrap()]);
    let summary = run(&files, &mut python, &Options::default());
    assert!(summary.is_success(), "{summary}");
    assert_eq!(summary.skipped(), files.len());
    let options = Options { no_skips: true, ..Options::default() };
    let summary = run(&files, &mut python, &options);
    assert!(!summary.is_success(), "{summary}");
}

#[test]
fn the_oracle_passes_everything_through_the_protocol() {
    let files = load(&[conformance()]).unwrap();
    let mut oracle = program([env!("CARGO_BIN_EXE_cupel-conformance"), "--serve"]);
    let summary = run(&files, &mut oracle, &Options { strict: true, ..Options::default() });
    assert!(summary.is_success(), "{summary}");
    assert_eq!(summary.passed(), files.len());
}

#[test]
fn a_crash_is_reported_with_its_status_and_last_words() {
    let text = failure(&mut shell("read request; echo 'out of cheese' >&2; exit 3"));
    assert!(text.contains("ended without an answer (exit status: 3)"), "{text}");
    assert!(text.contains("stderr: out of cheese"), "{text}");
}

#[test]
fn nonsense_is_reported_with_what_was_said() {
    let text = failure(&mut shell("read request; echo hello"));
    assert!(text.starts_with("the answer is not JSON"), "{text}");
    assert!(text.ends_with("hello"), "{text}");
    let text = failure(&mut shell("read request; echo '[1]'"));
    assert!(text.starts_with("the answer is not a JSON object"), "{text}");
    let text = failure(&mut shell("read request; echo '{\"id\": 7, \"order\": []}'"));
    assert!(text.starts_with("the answer does not repeat the id 1"), "{text}");
    let text = failure(&mut shell("read request; echo '{\"id\": 1, \"scores\": []}'"));
    assert!(text.starts_with("the answer is wrong: missing field `order`"), "{text}");
}

#[test]
fn silence_ends_in_a_timeout_and_the_program_is_started_anew() {
    let script = "read request; case $request in *'\"id\":1,'*) sleep 60;; esac; echo '{\"id\":2,\"order\":[]}'";
    let mut program = Program::new(["sh", "-c", script], Duration::from_millis(200));
    assert_eq!(failure(&mut program), "the program did not answer within 0.2 s");
    assert_eq!(place_nothing(&mut program), Ok(PlacingAnswer::default()));
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let text = failure(&mut program(["./no-such-program"]));
    assert!(text.starts_with("cannot start `./no-such-program`"), "{text}");
    assert_eq!(failure(&mut program([])), "no program was named");
}

#[test]
fn a_broken_program_fails_the_vector_and_no_other() {
    let files = load(&[conformance().join("required/placing")]).unwrap();
    let skips = files[1..]
        .iter()
        .map(|file| Skip { name: file.name.clone(), reason: "one is enough".to_owned() })
        .collect();
    let summary = run(&files, &mut shell("exit 0"), &Options { skips, ..Options::default() });
    assert!(matches!(summary.outcomes[0].verdict, Verdict::Failed(_)));
    assert_eq!((summary.failed(), summary.skipped()), (1, files.len() - 1));
}
