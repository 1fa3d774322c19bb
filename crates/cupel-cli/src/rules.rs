//! Standing rules, as flags and settings name them: the path of a file, or the rules themselves.

use std::path::Path;

use cupel_engine::Rule;

use crate::error::Failure;
use crate::input::Input;
use crate::output;

/// The rules that flags name. A path of no file is taken as a rule, and told.
pub(crate) fn of_flags(flags: &[String]) -> Result<Vec<Rule>, Failure> {
    for text in flags.iter().filter(|text| looks_like_a_path(text) && !Path::new(text).is_file()) {
        output::say(&format!(
            "cupel: --rules {text}: there is no such file; it is taken as a rule"
        ));
    }
    read(flags.iter().map(String::as_str))
}

/// The rules of all that is named: of each file that exists, its lines; anything else is a rule itself.
pub(crate) fn read<'g>(given: impl IntoIterator<Item = &'g str>) -> Result<Vec<Rule>, Failure> {
    let mut rules = Vec::new();
    for text in given {
        rules.extend(of(text)?);
    }
    Ok(rules)
}

fn of(text: &str) -> Result<Vec<Rule>, Failure> {
    let path = Path::new(text);
    let is_file = path.is_file();
    let rules: Vec<Rule> = if is_file {
        Rule::lines(&Input::read(Some(path))?.text).collect()
    } else {
        Rule::lines(text).collect()
    };
    if rules.is_empty() {
        let name = if is_file { text.to_owned() } else { format!("rules: `{}`", text.trim()) };
        return Err(Failure::cannot(format!(
            "{name}: has no rules; give each on a line of its own that does not begin with `#`"
        )));
    }
    Ok(rules)
}

/// A single word with a folder or an ending is more likely a file that was misspelt than a rule.
fn looks_like_a_path(text: &str) -> bool {
    let has_ending = Path::new(text).extension().is_some();
    !text.contains(char::is_whitespace) && (has_ending || text.contains(['/', '\\']))
}
