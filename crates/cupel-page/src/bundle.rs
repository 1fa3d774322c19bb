//! The modules as one script, for a page that is a single file.
//!
//! Each module becomes a function that is called once and hands out what it exports. It takes modules
//! that keep to one form: imports are `import { a, b } from './name.js';` on one line, exports are
//! `export function`, `export class` or `export const` at the beginning of a line.

use std::fmt::Write as _;

use crate::Asset;

/// One script that does what the modules do.
pub(crate) fn bundle(modules: &[Asset]) -> String {
    let mut script = String::from("'use strict';\n");
    for module in modules {
        let mut exports = Vec::new();
        let mut body = String::new();
        for line in module.body.lines() {
            if let Some((names, from)) = imported(line) {
                let _ = writeln!(body, "const {{{names}}} = {};", variable(from));
            } else if let Some(rest) = line.strip_prefix("export ") {
                exports.extend(exported(rest));
                let _ = writeln!(body, "{rest}");
            } else {
                let _ = writeln!(body, "{line}");
            }
        }
        let name = variable(module.name);
        let exports = exports.join(", ");
        let _ = writeln!(script, "const {name} = (() => {{\n{body}return {{{exports}}};\n}})();");
    }
    script
}

/// The names of an import, and the file that they are from.
fn imported(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("import {")?;
    let (names, from) = rest.split_once("} from './")?;
    Some((names, from.strip_suffix("';")?))
}

/// The name that a line declares.
fn exported(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    let rest = ["function ", "class ", "const "].iter().find_map(|word| rest.strip_prefix(word))?;
    rest.split(|char: char| !char.is_alphanumeric() && char != '_').next()
}

/// `app.js` as `app_js`.
fn variable(name: &str) -> String {
    name.replace(|char: char| !char.is_alphanumeric(), "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::SCRIPTS;

    #[test]
    fn modules_become_functions_that_hand_out_what_they_export() {
        let module = |name, body| Asset { name, mime: "", body };
        let script = bundle(&[
            module("a.js", "export function one() { return two; }\nconst two = 2;\n"),
            module("b.js", "import { one } from './a.js';\none();\n"),
        ]);
        let a = "const a_js = (() => {\nfunction one() { return two; }\nconst two = 2;\nreturn {one};\n})();\n";
        let b = "const b_js = (() => {\nconst { one } = a_js;\none();\nreturn {};\n})();\n";
        assert_eq!(script, format!("'use strict';\n{a}{b}"));
    }

    #[test]
    fn the_modules_keep_to_the_form_and_import_what_stands_before_them() {
        for (at, module) in SCRIPTS.iter().enumerate() {
            for line in module.body.lines().filter(|line| line.starts_with("import")) {
                let (_, from) = imported(line).expect(line);
                let known = SCRIPTS[..at].iter().any(|before| before.name == from);
                assert!(known, "{}: {line}", module.name);
            }
            for line in module.body.lines().filter(|line| line.starts_with("export")) {
                assert!(exported(&line["export ".len()..]).is_some(), "{}: {line}", module.name);
            }
            assert!(!module.body.contains("</script"), "{}", module.name);
            assert!(module.body.lines().count() < 400, "{} is too long", module.name);
        }
    }
}
