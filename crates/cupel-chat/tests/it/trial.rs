//! One request under trial: everything that must hold of it, for any budget and policy.

use std::collections::BTreeSet;

use cupel::{ContextBudget, CupelError};
use cupel_chat::{CandidateOptions, Candidates, Format, Request};

use crate::checker;
use crate::pipelines::{Named, Quarters};

/// A request, its candidates, and what was tried already.
pub(crate) struct Trial<'r> {
    text: &'r str,
    request: &'r Request,
    candidates: Candidates,
    messages: Vec<&'r str>,
    required: Vec<usize>,
    pinned_tokens: i64,
    tried: BTreeSet<Vec<usize>>,
}

impl<'r> Trial<'r> {
    /// Makes candidates of a valid request, and checks that bundles cover it and tear nothing apart.
    pub(crate) fn new(text: &'r str, request: &'r Request, options: &CandidateOptions) -> Self {
        assert_eq!(request.validate(), [], "valid by the checker, but not by the crate\n{text}");
        let candidates = request.candidates(&Quarters, options).unwrap();
        let pinned = candidates.items().iter().filter(|item| item.pinned());
        let trial = Self {
            text,
            request,
            messages: checker::messages(request.format(), text).unwrap(),
            required: checker::required(request.format(), text),
            pinned_tokens: pinned.map(cupel::ContextItem::tokens).sum(),
            tried: BTreeSet::new(),
            candidates,
        };
        trial.assert_bundles_are_whole();
        trial
    }

    pub(crate) fn total_tokens(&self) -> i64 {
        self.candidates.total_tokens()
    }

    /// Number of different windows that came out so far.
    pub(crate) fn windows(&self) -> usize {
        self.tried.len()
    }

    fn format(&self) -> Format {
        self.request.format()
    }

    fn assert_bundles_are_whole(&self) {
        let bundles = self.candidates.bundles();
        let mut owner = vec![None; self.messages.len()];
        for (position, bundle) in bundles.iter().enumerate() {
            for index in bundle.message_indices() {
                assert_eq!(
                    owner[*index].replace(position),
                    None,
                    "message {index} is in two bundles"
                );
            }
        }
        assert!(owner.iter().all(Option::is_some), "a message is in no bundle: {owner:?}");
        for (one, other) in checker::ties(self.format(), self.text) {
            assert_eq!(
                owner[one], owner[other],
                "messages {one} and {other} belong together\n{}",
                self.text
            );
        }
        assert_eq!(self.candidates.items().len(), bundles.len());
    }

    /// The windows that came out so far, as they are written.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = String> {
        self.tried.iter().map(|kept| self.candidates.render(kept))
    }

    /// Runs a pipeline with this budget and checks what comes out.
    pub(crate) fn run(&mut self, named: &Named, budget: i64) {
        let limits = ContextBudget::builder(budget).build().unwrap();
        let pipeline = named.pipeline.clone().with_needs(self.candidates.needs());
        let window = match pipeline.window(self.candidates.items(), &limits) {
            Ok(window) => window,
            Err(CupelError::PinnedExceedsBudget { .. }) => {
                assert!(
                    self.pinned_tokens > budget,
                    "{}: {budget}: the pinned parts fit",
                    named.name
                );
                return;
            }
            Err(error) => panic!("{}: {budget}: {error}", named.name),
        };
        assert!(
            self.pinned_tokens <= budget,
            "{}: {budget}: pinned parts were let through",
            named.name
        );
        let kept: Vec<usize> = window.iter().map(|placed| placed.position).collect();
        let whole = kept.len() == self.candidates.items().len();
        // Slicers take nothing where there is no room, not even what costs nothing.
        if named.keeps_all && budget > self.pinned_tokens && budget >= self.total_tokens() {
            assert!(whole, "{}: {budget}: not all was kept", named.name);
        }
        let tokens: i64 = kept.iter().map(|at| self.candidates.items()[*at].tokens()).sum();
        assert!(tokens <= budget, "{}: {tokens} tokens in a window of {budget}", named.name);
        if self.tried.insert(kept.clone()) {
            self.assert_window(&kept, tokens);
        }
    }

    /// Asserts the invariants of these candidates, rendered.
    fn assert_window(&self, kept: &[usize], tokens: i64) {
        let output = self.candidates.render(kept);
        let context = || format!("kept {kept:?} of\n{}\ngave\n{output}", self.text);

        if !self.format().has_free_order() && checker::user_begins(self.format(), self.text) {
            let may_begin = matches!(
                self.format(),
                Format::OpenAiChat | Format::OpenAiResponses | Format::Ollama | Format::Cohere
            );
            assert!(may_begin || checker::user_begins(self.format(), &output), "{}", context());
        }
        let problems = checker::problems(self.format(), &output);
        let is_empty_list = self.format().has_free_order() && kept.is_empty();
        assert!(problems.is_empty() || is_empty_list, "{problems:?}: {}", context());

        let order = self.message_order(kept);
        let expected: Vec<&str> = order.iter().map(|index| self.messages[*index]).collect();
        let found = checker::messages(self.format(), &output).unwrap();
        assert_eq!(found, expected, "{}", context());
        assert_eq!(self.candidates.kept_messages(kept), order);
        assert_eq!(self.candidates.message_count_of(kept), expected.len());
        assert_eq!(
            checker::surroundings(self.format(), &output),
            checker::surroundings(self.format(), self.text),
        );
        for (position, item) in self.candidates.items().iter().enumerate() {
            assert!(
                !item.pinned() || kept.contains(&position),
                "a pinned part is missing: {}",
                context()
            );
        }
        for index in &self.required {
            assert!(order.contains(index), "message {index} is missing: {}", context());
        }
        if kept.iter().copied().eq(0..self.candidates.items().len()) {
            assert_eq!(output, self.text);
        }
        // No lines at all are no request that could be read.
        if !output.trim().is_empty() {
            self.assert_reads_back(&output, expected.len(), tokens);
        }
    }

    fn message_order(&self, kept: &[usize]) -> Vec<usize> {
        let bundles = kept.iter().map(|position| self.candidates.bundle(*position));
        let mut order: Vec<usize> =
            bundles.flat_map(|bundle| bundle.message_indices().to_vec()).collect();
        if !self.format().has_free_order() {
            order.sort_unstable();
        }
        order
    }

    /// Asserts that the output is read as a request with just these messages, of just these tokens.
    fn assert_reads_back(&self, output: &str, messages: usize, tokens: i64) {
        let again = Request::parse(output, Some(self.format())).unwrap();
        assert_eq!(again.message_count(), messages);
        assert_eq!(again.validate(), [], "{output}");
        let recounted = again.candidates(&Quarters, &CandidateOptions::default()).unwrap();
        assert_eq!(recounted.total_tokens(), tokens, "counted again\n{}\nas\n{output}", self.text);
    }
}
