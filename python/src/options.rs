//! What an engine is made of, and what one call changes.

use std::str::FromStr;

use cupel_engine::{Format, Limits, NamedPolicy, Pin, Rule, Shorten, Superseded};
use pyo3::prelude::*;

use crate::errors;

/// What one call changes of its engine's settings.
#[pyclass(frozen, module = "cupel._native")]
pub(crate) struct Options(pub(crate) cupel_engine::Options);

#[pymethods]
impl Options {
    #[new]
    #[pyo3(signature = (
        *, query=None, limits=None, model=None, pins=Vec::new(), rules=Vec::new(), shorten=None,
        renderings=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn new(
        py: Python<'_>,
        query: Option<String>,
        limits: Option<PyRef<'_, LimitsOf>>,
        model: Option<String>,
        pins: Vec<PinOf>,
        rules: Vec<String>,
        shorten: Option<&str>,
        renderings: Option<&str>,
    ) -> PyResult<Self> {
        let mut options = cupel_engine::Options::new();
        if let Some(query) = query {
            options = options.query(query);
        }
        if let Some(limits) = limits {
            options = options.limits(limits.0);
        }
        if let Some(model) = model {
            options = options.model(model);
        }
        for (at, pin) in pins.into_iter().enumerate() {
            options = options.pin(pin.read(py, at)?);
        }
        options = options.rules(read_rules(py, &rules)?);
        if let Some(what) = shorten {
            options = options.shorten(self::shorten(py, what)?);
        }
        if let Some(list) = renderings {
            let read = cupel_engine::read_renderings(list);
            options = options.renderings(read.map_err(|error| errors::of_engine(py, &error))?);
        }
        Ok(Self(options))
    }
}

/// How much fits.
#[pyclass(frozen, name = "Limits", module = "cupel._native")]
pub(crate) struct LimitsOf(pub(crate) Limits);

#[pymethods]
impl LimitsOf {
    #[new]
    #[pyo3(signature = (max_tokens=None, target_tokens=None, output_reserve=None, margin_percent=None))]
    fn new(
        max_tokens: Option<i64>,
        target_tokens: Option<i64>,
        output_reserve: Option<i64>,
        margin_percent: Option<f64>,
    ) -> Self {
        let mut limits = Limits::default();
        limits.max = max_tokens;
        limits.target = target_tokens;
        limits.reserve = output_reserve;
        limits.margin_percent = margin_percent;
        Self(limits)
    }
}

/// An index, or a pin as the command reads it.
#[derive(FromPyObject)]
pub(crate) enum PinOf {
    Index(usize),
    Text(String),
}

impl PinOf {
    pub(crate) fn read(self, py: Python<'_>, at: usize) -> PyResult<Pin> {
        match self {
            Self::Index(index) => Ok(Pin::Index(index)),
            Self::Text(text) => text.parse::<Pin>().map_err(|error| {
                errors::invalid_argument(py, &format!("pins[{at}]"), error.to_string())
            }),
        }
    }
}

/// The rules of each text, a line each.
pub(crate) fn read_rules(py: Python<'_>, texts: &[String]) -> PyResult<Vec<Rule>> {
    let mut rules = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let before = rules.len();
        rules.extend(Rule::lines(text));
        if rules.len() == before {
            let problem =
                "has no rules; give each on a line of its own that does not begin with `#`";
            return Err(errors::invalid_argument(py, &format!("rules[{at}]"), problem.to_owned()));
        }
    }
    Ok(rules)
}

/// A policy: the name of one that is known, or what its file says.
#[derive(FromPyObject)]
pub(crate) enum PolicyOf {
    Known(String),
    /// What reports call it, and TOML or JSON.
    Text(String, String),
}

impl PolicyOf {
    pub(crate) fn read(&self, py: Python<'_>) -> PyResult<NamedPolicy> {
        let policy = match self {
            Self::Known(name) => NamedPolicy::find(name),
            Self::Text(name, text) => NamedPolicy::read(name, text),
        };
        policy.map_err(|error| errors::of_engine(py, &error))
    }
}

pub(crate) fn format(py: Python<'_>, name: &str) -> PyResult<Format> {
    Format::from_str(name)
        .map_err(|error| errors::invalid_argument(py, "format", error.to_string()))
}

pub(crate) fn superseded(py: Python<'_>, name: &str) -> PyResult<Superseded> {
    match name {
        "keep" => Ok(Superseded::Keep),
        "drop" => Ok(Superseded::Drop),
        other => {
            let rule = format!("must be \"keep\" or \"drop\", got {other:?}");
            Err(errors::invalid_argument(py, "superseded", rule))
        }
    }
}

pub(crate) fn shorten(py: Python<'_>, name: &str) -> PyResult<Shorten> {
    let known = Shorten::ALL.into_iter().find(|known| known.name() == name);
    known.ok_or_else(|| {
        let rule = format!("must be \"off\", \"json\" or \"all\", got {name:?}");
        errors::invalid_argument(py, "shorten", rule)
    })
}
