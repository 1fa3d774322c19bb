//! "Did you mean": the known name that is nearest to a misspelt one.

/// The known name nearest to `name`, if any is near enough to be meant.
///
/// Near means: at most a third of the letters differ, ignoring case. Of equally near names the
/// first wins.
///
/// ```
/// use cupel_tokens::nearest_name;
///
/// assert_eq!(nearest_name("gtp-4o", ["gpt-4", "gpt-4o"]), Some("gpt-4o"));
/// assert_eq!(nearest_name("llama", ["gpt-4", "gpt-4o"]), None);
/// ```
pub fn nearest_name<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let name = letters(name);
    let allowed = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&name, &letters(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The end of a message about a name that is not known: the nearest one, or else something to do.
///
/// ```
/// use cupel_tokens::{did_you_mean, nearest_name};
///
/// let known = ["gpt-4", "gpt-4o"];
/// let hint = |name| did_you_mean(nearest_name(name, known), "known are gpt-4, gpt-4o");
/// assert_eq!(hint("gtp-4o"), "did you mean \"gpt-4o\"?");
/// assert_eq!(hint("llama"), "known are gpt-4, gpt-4o");
/// ```
pub fn did_you_mean(nearest: Option<&str>, otherwise: &str) -> String {
    nearest.map_or_else(|| otherwise.to_owned(), |name| format!("did you mean {name:?}?"))
}

/// Longest name worth comparing: what is longer is no misspelling.
const LONGEST: usize = 64;

fn letters(name: &str) -> String {
    name.chars().take(LONGEST).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_is_one_mistake() {
        assert_eq!(nearest_name("gtp-4", ["gpt-5", "gpt-4"]), Some("gpt-4"));
    }

    #[test]
    fn of_equally_near_names_the_first_wins() {
        assert_eq!(nearest_name("gpt-6", ["gpt-4", "gpt-5"]), Some("gpt-4"));
    }

    #[test]
    fn case_is_no_mistake() {
        assert_eq!(nearest_name("CL100K_BASE", ["o200k_base", "cl100k_base"]), Some("cl100k_base"));
    }

    #[test]
    fn nothing_is_near_to_a_stranger() {
        assert_eq!(nearest_name("zzzzzzzz", ["gpt-4"]), None);
        assert_eq!(nearest_name("", ["gpt-4"]), None);
        assert_eq!(nearest_name("gpt-4", []), None);
    }
}
