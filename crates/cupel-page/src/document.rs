//! The page itself: for a server, or as one file.

use crate::assets::{INDEX, SCRIPTS, STYLES};
use crate::{View, bundle, hash};

/// The content security policy to serve the page with: nothing but its own files and its own server.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// The page for a server that has a list of requests: it asks `/cupel/api` for them.
#[must_use]
pub fn index() -> String {
    filled("", LINKS, "")
}

/// The page for one request, for a server that has the [`assets`](crate::assets()).
#[must_use]
pub fn page(view: &View) -> String {
    filled("", LINKS, &data(view))
}

/// The page for one request as one file, which needs no server and no network.
#[must_use]
pub fn single_file(view: &View) -> String {
    let script = bundle::bundle(SCRIPTS);
    let style: String = STYLES.iter().map(|style| style.body).collect();
    let policy = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'\">",
        hash::source(&script),
        hash::source(&style),
    );
    let style = format!("<style>{style}</style>");
    // At the end of the body, where a module would run as well.
    let script = format!("{}<script>{script}</script>", data(view));
    filled(&policy, &style, &script)
}

const LINKS: &str = "<link rel=\"stylesheet\" href=\"/cupel/style.css\">\n  \
     <script type=\"module\" src=\"/cupel/app.js\"></script>";

fn filled(policy: &str, head: &str, end: &str) -> String {
    let mut page = String::with_capacity(INDEX.len() + head.len() + end.len() + policy.len());
    for line in INDEX.lines() {
        match line.trim() {
            "<!-- policy -->" => page.push_str(policy),
            "<!-- head -->" => page.push_str(head),
            "<!-- end -->" => page.push_str(end),
            _ => page.push_str(line),
        }
        page.push('\n');
    }
    page
}

/// The view where scripts find it and nothing runs it: no `<` is left that could end the element.
fn data(view: &View) -> String {
    let json = view.to_json().replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"view\">{json}</script>")
}
