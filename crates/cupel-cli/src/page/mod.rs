//! A request as a page in the browser.

mod server;

use std::path::Path;

use cupel_engine::{Engine, NamedPolicy, policies};
use cupel_page::{RunPoint, View, ViewOptions};

pub(crate) use server::Server;

use crate::cli::SelectionArguments;
use crate::cmd::Context;
use crate::error::Failure;
use crate::input::Input;
use crate::policy;
use crate::session::SessionArguments;

/// Policy that people use today, to compare with.
const NEWEST_FIRST: &str = r#"scorers = ["recency"]"#;

/// Parts of a page, beside the request.
pub(crate) struct Page<'a> {
    pub(crate) context: &'a Context,
    pub(crate) selection: &'a SelectionArguments,
    pub(crate) session: &'a SessionArguments,
    /// The file that it is written to, if it is.
    pub(crate) output: Option<&'a Path>,
    /// Other policies to compare with, before those that are known by name.
    pub(crate) beside: &'a [String],
}

impl Page<'_> {
    /// The request as the page shows it. Without a budget of the caller's, one that fits whole opens
    /// where something is left out.
    pub(crate) fn view(&self, engine: &Engine, input: &Input) -> Result<View, Failure> {
        let how = self.how(input)?;
        let options = self.selection.options()?;
        let view = match self.session.file(&[input.path.as_deref(), self.output])? {
            None => View::of_request(engine, input.text.as_str(), &options, &how),
            Some(file) => {
                let mut session = self.session.load(&file, engine)?;
                let step = self.session.propose(&mut session, input, &options)?;
                let before = session.state().map(RunPoint::of_state);
                let run: Vec<RunPoint> = before.into_iter().chain([RunPoint::of(&step)]).collect();
                View::of_step(engine, input.text.as_str(), &options, &step, &run, &how)
            }
        };
        view.map_err(|error| Failure::of(&input.name(), &error))
    }

    fn how(&self, input: &Input) -> Result<ViewOptions, Failure> {
        let budget = &self.selection.budget;
        let is_asked = budget.max.or(budget.target).is_some()
            || ["max", "target"].iter().any(|name| self.context.settings.text(name).is_some());
        let how = ViewOptions::new().title(input.file_name()).taste(!is_asked);
        Ok(self.beside()?.into_iter().fold(how, ViewOptions::beside))
    }

    fn beside(&self) -> Result<Vec<NamedPolicy>, Failure> {
        let own = self.beside.iter().map(|name| policy::load(name));
        let mut beside = own.collect::<Result<Vec<_>, _>>()?;
        let newest = NamedPolicy::read("newest first", NEWEST_FIRST);
        let known = policies().policies.into_iter().map(|row| NamedPolicy::find(&row.name));
        for policy in [newest].into_iter().chain(known) {
            let policy = policy.map_err(|error| Failure::of_settings(&error))?;
            if beside.iter().all(|other| other.name() != policy.name()) {
                beside.push(policy);
            }
        }
        Ok(beside)
    }
}
