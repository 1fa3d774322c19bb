//! The files that the page is made of.

/// A file of the page, to be served under `/cupel/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asset {
    /// Its name, as in `app.js`.
    pub name: &'static str,
    /// Its type, as in `text/javascript; charset=utf-8`.
    pub mime: &'static str,
    /// Content of the file.
    pub body: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! scripts {
    ($($name:literal),* $(,)?) => {
        &[$(Asset { name: $name, mime: SCRIPT, body: include_str!(concat!("../web/", $name)) }),*]
    };
}

/// The modules, each behind those that it imports.
pub(crate) const SCRIPTS: &[Asset] = scripts![
    "dom.js",
    "words.js",
    "windows.js",
    "theme.js",
    "virtual.js",
    "bar.js",
    "slider.js",
    "pinning.js",
    "detail.js",
    "chart.js",
    "step.js",
    "rows.js",
    "compare.js",
    "tools.js",
    "headline.js",
    "view.js",
    "api.js",
    "limits.js",
    "requests.js",
    "app.js",
];

pub(crate) const STYLES: &[Asset] =
    &[Asset { name: "style.css", mime: STYLE, body: include_str!("../web/style.css") }];

pub(crate) const INDEX: &str = include_str!("../web/index.html");

/// The files that the page is made of, beside [`index`](crate::index).
#[must_use]
pub fn assets() -> Vec<Asset> {
    SCRIPTS.iter().chain(STYLES).copied().collect()
}
