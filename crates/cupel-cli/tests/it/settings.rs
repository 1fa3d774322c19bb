//! Settings where flags say nothing.

use std::path::Path;

use crate::support::{Folder, Run, cupel, root, run};

const SMALL: &str = "crates/cupel-cli/tests/data/chat.json";

fn within(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut command = cupel(arguments);
    command.current_dir(folder).envs(variables.iter().copied());
    command.output().unwrap().into()
}

#[test]
fn flags_win_over_variables_and_variables_over_the_nearest_file_above() {
    let folder = Folder::new();
    folder.write("cupel.toml", "max = \"0.12k\"\ntokenizer = \"estimate\"\npolicy = \"chat\"\n");
    std::fs::create_dir(folder.path().join("below")).unwrap();
    let below = folder.path().join("below");
    let request = root().join(SMALL).canonicalize().unwrap();
    let request = request.to_str().unwrap();
    let kept = |flags: &[&str], variables: &[(&str, &str)]| {
        let run = within(&below, &[&["select", request], flags].concat(), variables);
        assert_eq!(run.code, Some(0), "{run:?}");
        run.stderr
    };
    assert!(kept(&[], &[]).contains(" of 120 tokens, from "));
    assert!(kept(&[], &[]).ends_with(" (estimated)\n"));
    assert!(kept(&[], &[("CUPEL_MAX", "110")]).contains(" of 110 tokens, from "));
    assert!(kept(&["--max=100"], &[("CUPEL_MAX", "110")]).contains(" of 100 tokens, from "));
}

#[test]
fn config_shows_what_holds_and_where_it_comes_from() {
    let folder = Folder::new();
    folder.write("cupel.toml", "max = 8000\npin = [\"role:developer\", 3]\n");
    let run = within(folder.path(), &["config"], &[("CUPEL_POLICY", "chat")]);
    assert_eq!(run.code, Some(0));
    let line = |name: &str| {
        run.stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap().to_owned()
    };
    assert!(line("policy").contains("chat") && line("policy").contains("CUPEL_POLICY"));
    assert!(line("max").contains("8000") && line("max").contains("cupel.toml"));
    assert!(line("pin").contains("role:developer,3"), "{}", line("pin"));
    assert!(line("model").contains("default"));
    let run = within(folder.path(), &["config", "--json"], &[]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["schema"], "cupel/1");
    assert_eq!(json["settings"][3]["value"], "8000");
}

#[test]
fn a_mistake_in_a_setting_is_named_by_its_place() {
    let folder = Folder::new();
    folder.write("cupel.toml", "polcy = \"chat\"\n");
    let run = within(folder.path(), &["models"], &[]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("cupel.toml: unknown setting `polcy`; did you mean `policy`?"));
    let folder = Folder::new();
    let run = within(folder.path(), &["select", "-"], &[("CUPEL_MAX", "lots")]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("CUPEL_MAX: max: invalid value `lots`: "), "{}", run.stderr);
}

#[test]
fn a_policy_file_is_found_beside_the_configuration_that_names_it() {
    let folder = Folder::new();
    folder.write("cupel.toml", "policy = \"mine.toml\"\nmax = 100\ntokenizer = \"estimate\"\n");
    folder.write("mine.toml", "scorers = [\"recency\"]\n");
    std::fs::create_dir(folder.path().join("below")).unwrap();
    let request = root().join(SMALL).canonicalize().unwrap();
    let below = folder.path().join("below");
    let run = within(&below, &["explain", request.to_str().unwrap(), "--json"], &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(json["summary"]["policy"].as_str().unwrap().ends_with("mine.toml"));
}

#[test]
fn every_setting_of_the_table_is_a_flag_and_what_it_says_of_files_is_so() {
    let help = run(&["select", "--help"]).stdout;
    let config = run(&["config"]).stdout;
    for setting in cupel_engine::SETTINGS {
        let flag = format!("--{}", setting.name);
        // A value that may be left out stands behind its flag: `--repair[=<HOW>]`.
        let mut words = help.split_whitespace().filter_map(|word| word.split([',', '[']).next());
        let is_flag = words.any(|word| word == flag);
        assert!(is_flag, "{flag} is not in the help");
        assert_eq!(config.contains(&setting.variable()), setting.in_file, "{}", setting.name);
        assert!(setting.summary.ends_with('.') && !setting.default.is_empty(), "{}", setting.name);
    }
}

#[cfg(feature = "gateway")]
#[test]
fn a_gateway_takes_the_settings_that_the_table_says_it_takes() {
    let folder = Folder::new();
    for setting in cupel_engine::SETTINGS {
        // A value that no setting takes, so that only the name can be in order.
        let text = format!("{} = {{ no = 'setting' }}\n", setting.name);
        let file = folder.write("gateway.toml", text);
        let run = run(&["gateway", "--config", &file]);
        assert_ne!(run.code, Some(0), "{run:?}");
        let unknown = format!("`{}`", setting.name);
        let is_unknown = run.stderr.contains("unknown") && run.stderr.contains(&unknown);
        assert_eq!(is_unknown, !setting.in_gateway, "{}: {}", setting.name, run.stderr);
    }
}
