//! Output appears as a whole or not at all, and never over the input by mistake.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::{Folder, cupel, root, run, run_with};

const SMALL: &str = "crates/cupel-cli/tests/data/chat.json";
/// Loads no vocabulary, which takes its time without optimization.
const ESTIMATE: &str = "--tokenizer=estimate";

fn small() -> String {
    fs::read_to_string(root().join(SMALL)).unwrap()
}

#[test]
fn a_file_holds_what_stdout_would_have() {
    let folder = Folder::new();
    let file = folder.file("out.json");
    let run_to_file = run(&["select", SMALL, "--max=120", ESTIMATE, "--output", &file]);
    assert_eq!((run_to_file.code, run_to_file.stdout.as_str()), (Some(0), ""), "{run_to_file:?}");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        run(&["select", SMALL, "--max=120", ESTIMATE]).stdout
    );
    assert_eq!(folder.names(), ["out.json"]);
}

#[test]
fn the_input_is_replaced_only_when_asked() {
    let folder = Folder::new();
    let file = folder.write("request.json", small());
    let refused = run(&["select", &file, "--max=120", ESTIMATE, "--output", &file]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("is the input; write to another file"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), small());

    let replaced = run(&["select", &file, "--max=120", ESTIMATE, "--in-place"]);
    assert_eq!(replaced.code, Some(0), "{replaced:?}");
    let expected = run(&["select", SMALL, "--max=120", ESTIMATE]).stdout;
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
    assert_eq!(folder.names(), ["request.json"]);
}

#[test]
fn a_link_to_the_input_is_the_input_and_a_link_stays_a_link() {
    let folder = Folder::new();
    let file = folder.write("request.json", small());
    symlink(&file, folder.path().join("link.json")).unwrap();
    let link = folder.file("link.json");
    let refused = run(&["select", &file, "--max=120", ESTIMATE, "--output", &link]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert_eq!(run(&["select", &link, "--max=120", ESTIMATE, "--in-place"]).code, Some(0));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().len() < small().len());
}

#[test]
fn permissions_of_a_replaced_file_stay() {
    let folder = Folder::new();
    let file = folder.write("request.json", small());
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    assert_eq!(run(&["select", &file, "--max=120", ESTIMATE, "--in-place"]).code, Some(0));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_failure_leaves_the_old_output_and_the_input_alone() {
    let folder = Folder::new();
    let output = folder.write("out.json", "old");
    let input = folder.write("request.json", small());
    for arguments in [
        &["select", &input, "--max=1", ESTIMATE, "--output", &output] as &[&str],
        &["select", &input, "--max=1", ESTIMATE, "--in-place"],
        &["select", &input, "--max=100", ESTIMATE, "--policy", "no-such", "--in-place"],
    ] {
        assert_ne!(run(arguments).code, Some(0), "{arguments:?}");
    }
    assert_eq!(fs::read_to_string(&output).unwrap(), "old");
    assert_eq!(fs::read_to_string(&input).unwrap(), small());
    assert_eq!(folder.names(), ["out.json", "request.json"]);
}

#[test]
fn a_place_that_cannot_be_written_to_is_named() {
    let folder = Folder::new();
    let nowhere = folder.file("no/such/folder/out.json");
    let result = run(&["select", SMALL, "--max=120", ESTIMATE, "--output", &nowhere]);
    assert_eq!(result.code, Some(2));
    let message = format!("cupel: {nowhere}: cannot write: no such file or directory\n");
    assert_eq!(result.stderr, message);

    let input = folder.write("request.json", small());
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
    let output = folder.file("out.json");
    // Whoever may write anywhere cannot be refused.
    if File::create(&output).is_err() {
        let result = run(&["select", &input, "--max=120", ESTIMATE, "--output", &output]);
        assert_eq!(result.code, Some(2));
        assert_eq!(result.stderr, format!("cupel: {output}: cannot write: permission denied\n"));
        assert_eq!(run(&["select", &input, "--max=120", ESTIMATE, "--in-place"]).code, Some(2));
        assert_eq!(fs::read_to_string(&input).unwrap(), small());
    }
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_file_system_is_named_whoever_asks() {
    let result = run(&["select", SMALL, "--max=120", ESTIMATE, "--output", "/proc/cupel.json"]);
    assert_eq!((result.code, result.stdout.as_str()), (Some(2), ""));
    let beginning = "cupel: /proc/cupel.json: cannot write: ";
    assert!(result.stderr.starts_with(beginning), "{}", result.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let message = "cannot write: no space left on device\n";
    for arguments in [&["select", SMALL, "--max=120", ESTIMATE] as &[&str], &["policy", "schema"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = cupel(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr, format!("cupel: stdout: {message}"));
    }
    let to_device = run(&["select", SMALL, "--max=120", ESTIMATE, "--output", "/dev/full"]);
    assert_eq!(
        (to_device.code, to_device.stderr),
        (Some(2), format!("cupel: /dev/full: {message}"))
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_written_to_and_not_replaced() {
    let result = run_with(&["select", "--max=120", ESTIMATE, "--output", "/dev/stdout"], &small());
    assert_eq!(result.stdout, run(&["select", SMALL, "--max=120", ESTIMATE]).stdout);
}
