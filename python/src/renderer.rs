//! Renderers that are written in Python: from a text and its tool to shorter texts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cupel::{Draft, Original, Renderer};
use pyo3::intern;
use pyo3::prelude::*;

use crate::errors::Problem;
use crate::fork;
use crate::work::{self, Abandoned};

/// Number of texts that are remembered with their forms.
const MOST_TEXTS: usize = 4_096;

/// Functions of Python's that shorten.
///
/// Each text is asked for once: a function that answers otherwise the second time would break what
/// was sent before.
pub(crate) struct CustomRenderer {
    functions: Vec<Py<PyAny>>,
    known: Mutex<HashMap<(String, String), Vec<Draft>>>,
}

/// Answer of a function: nothing, a text, or texts with the share of the value that they keep.
#[derive(FromPyObject)]
enum Forms {
    Text(String),
    Shares(Vec<(String, f64)>),
}

impl CustomRenderer {
    pub(crate) fn of(functions: Vec<Py<PyAny>>) -> Arc<Self> {
        Arc::new(Self { functions, known: Mutex::default() })
    }

    fn drafts(&self, py: Python<'_>, original: &Original<'_>) -> PyResult<Vec<Draft>> {
        let mut drafts = Vec::new();
        for function in &self.functions {
            let told: Option<Forms> =
                function.call1(py, (original.text, original.name))?.extract(py)?;
            let name =
                function.getattr(py, intern!(py, "__name__")).and_then(|name| name.extract(py));
            let name: String = name.unwrap_or_else(|_| "renderer".to_owned());
            let whole = original.text.len().max(1) as f64;
            let forms = match told {
                None => continue,
                // Without a word on what it is worth, a form is worth what is left of the text.
                Some(Forms::Text(text)) => {
                    let share = (text.len() as f64 / whole).min(1.0);
                    vec![(text, share)]
                }
                Some(Forms::Shares(forms)) => forms,
            };
            for (text, share) in forms {
                if !(0.0..=1.0).contains(&share) {
                    let rule = format!("`{name}` must say a share within 0 and 1, got {share}");
                    return Err(Problem::new("invalid-renderings", rule)
                        .path("renderers")
                        .remedy("return texts, or pairs of a text and the share of the value that it keeps")
                        .raise(py));
                }
                drafts.push(Draft::new(name.clone(), text, share));
            }
        }
        // An empty text would be no form, but a message that is gone.
        drafts.retain(|draft| !draft.content.is_empty());
        Ok(drafts)
    }
}

impl Renderer for CustomRenderer {
    fn render(&self, original: &Original<'_>) -> Vec<Draft> {
        if Abandoned::here().is_so() {
            return Vec::new();
        }
        let key = (original.text.to_owned(), original.name.to_owned());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(drafts) = known().get(&key) {
            return drafts.clone();
        }
        // Not under the lock: Python code may take its time, or ask for work itself.
        match fork::in_python(|py| self.drafts(py, original)) {
            Ok(drafts) => {
                let mut known = known();
                if known.len() >= MOST_TEXTS {
                    known.clear();
                }
                // Whoever was first has answered for all.
                known.entry(key).or_insert(drafts).clone()
            }
            Err(error) => {
                work::keep_raised(error);
                Vec::new()
            }
        }
    }
}
