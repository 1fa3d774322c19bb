//! A request as candidates for the pipeline, and back.

use std::fmt;

use cupel::{ContextItem, Needs};
use cupel_tokens::Overheads;

use crate::weigh::Weight;
use crate::{Bundle, Pin, Request, Rule};

/// Options for making candidates.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CandidateOptions {
    /// Messages to keep, whatever they cost.
    pub pins: Vec<Pin>,
    /// Standing rules: messages of the system or the user that state one are kept too. A rule that none
    /// states is no error.
    pub rules: Vec<Rule>,
    /// Tokens that the provider counts beside texts, if the format does not tell them. Items have
    /// texts alone.
    pub overheads: Option<Overheads>,
    /// True if the user may never speak twice in a row in what is left, as the chat templates of
    /// many open models want it. Then whole turns are in or out, but for the last one. A request in
    /// which the user does so already is refused. Items have no turns.
    pub alternate: bool,
    /// Keeps whole turns in or out together, but for the last one. Otherwise every turn is taken apart into
    /// steps, which stay what they are as the request grows, and a step may only stay with [what it
    /// needs](Candidates::needs). Formats in which nothing binds a step to its turn have no turns.
    pub whole_turns: bool,
    /// Takes a request that enables thinking and whose last turn has none (`missing-thinking`). Anthropic refuses it; servers of
    /// other models that have its interface never think, and never ask for it.
    pub lacks_thinking: bool,
}

/// A request as candidates for the pipeline: one item for each bundle and each fixed part, in the
/// order of the request, fixed parts first.
///
/// # Example
///
/// ```
/// use cupel_chat::{CandidateOptions, Request};
/// use cupel_tokens::EstimateCounter;
///
/// let text = r#"{"messages": [
///     {"role": "user", "content": "Hello"},
///     {"role": "assistant", "content": "What can I do for you?"},
///     {"role": "user", "content": "Say goodbye"}
/// ]}"#;
/// let request = Request::parse(text, None)?;
/// let candidates =
///     request.candidates(&EstimateCounter::default(), &CandidateOptions::default())?;
/// assert_eq!(candidates.items().len(), 3);
/// assert!(candidates.items()[2].pinned());
/// assert_eq!(candidates.last_user_turn(), Some(2));
/// assert_eq!(candidates.kept_messages(&[2, 0]), [0, 2]);
/// assert_eq!(candidates.render(&[0, 1, 2]), text);
/// # Ok::<(), cupel_chat::ChatError>(())
/// ```
#[derive(Clone)]
pub struct Candidates {
    pub(crate) request: Request,
    pub(crate) items: Vec<ContextItem>,
    pub(crate) bundles: Vec<Bundle>,
    /// Tokens of each of them, the beginning of the answer left out.
    pub(crate) weights: Vec<Weight>,
    /// Options that they were made with.
    pub(crate) options: CandidateOptions,
    pub(crate) is_estimate: bool,
    pub(crate) total_tokens: i64,
}

impl Candidates {
    /// The options that they were made with.
    #[must_use]
    pub fn options(&self) -> &CandidateOptions {
        &self.options
    }

    /// One item for each candidate: hand these to a [`Pipeline`](cupel::Pipeline).
    pub fn items(&self) -> &[ContextItem] {
        &self.items
    }

    /// Bundles behind the items.
    pub fn bundles(&self) -> &[Bundle] {
        &self.bundles
    }

    /// Bundle behind an item, by its position.
    ///
    /// # Panics
    ///
    /// If there is no such item.
    pub fn bundle(&self, position: usize) -> &Bundle {
        &self.bundles[position]
    }

    /// Bundles that are always in, in the order of the request.
    pub fn pinned(&self) -> Vec<&Bundle> {
        self.bundles.iter().filter(|bundle| bundle.pin.is_some()).collect()
    }

    /// Bundles that are always in, the largest first: those to look at when they alone are too much.
    pub fn pinned_by_size(&self) -> Vec<&Bundle> {
        let mut pinned = self.pinned();
        pinned.sort_by_key(|bundle| std::cmp::Reverse(bundle.tokens));
        pinned
    }

    /// The needs of the candidates, by position: hand them to the pipeline too.
    ///
    /// ```
    /// use cupel_chat::{CandidateOptions, Format, Request};
    /// use cupel_tokens::EstimateCounter;
    ///
    /// let text = r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"},
    ///     {"role": "user", "content": "Bye"}]"#;
    /// let request = Request::parse(text, Some(Format::Anthropic))?;
    /// let candidates =
    ///     request.candidates(&EstimateCounter::default(), &CandidateOptions::default())?;
    /// // No window may begin with the assistant.
    /// assert_eq!(candidates.needs().of(1), [0]);
    /// # Ok::<(), cupel_chat::ChatError>(())
    /// ```
    pub fn needs(&self) -> Needs {
        let mut holder = vec![None; self.request.message_count()];
        for (at, bundle) in self.bundles.iter().enumerate() {
            for message in &bundle.messages {
                holder[*message] = Some(at);
            }
        }
        let mut needs = Needs::none(self.bundles.len());
        for (at, bundle) in self.bundles.iter().enumerate() {
            for needed in bundle.needs.iter().filter_map(|message| holder[*message]) {
                let added = needs.add(at, needed);
                debug_assert!(added.is_ok(), "both are candidates");
            }
        }
        needs
    }

    /// The request that these are the candidates of.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The position of the candidate that holds the last that the user said, as
    /// [`Request::last_user_message`] has it.
    pub fn last_user_turn(&self) -> Option<usize> {
        let message = self.request.last_user_message()?;
        self.bundles.iter().position(|bundle| bundle.messages.binary_search(&message).is_ok())
    }

    /// The positions of the candidates that begin after the last that the user said: what an agent
    /// has done since.
    pub fn since_last_user_turn(&self) -> Vec<usize> {
        let Some(message) = self.request.last_user_message() else { return Vec::new() };
        let is_later = |bundle: &Bundle| bundle.messages.first().is_some_and(|at| *at > message);
        (0..self.bundles.len()).filter(|at| is_later(&self.bundles[*at])).collect()
    }

    /// Returns true if token counts are estimates: the counter's, or of something that cannot be counted
    /// from here, as a file.
    pub fn is_estimate(&self) -> bool {
        self.is_estimate
    }

    /// The tokens of the whole request, what was removed included.
    pub fn total_tokens(&self) -> i64 {
        self.total_tokens
    }

    /// Takes these candidates out of the competition, but for pinned ones and those that others
    /// [need](Self::needs); the others move up. What is left of the request is as valid as any
    /// selection.
    pub fn remove(&mut self, positions: &[usize]) {
        let mut stays = vec![true; self.items.len()];
        for at in positions.iter().filter(|at| **at < self.items.len()) {
            stays[*at] = self.items[*at].pinned();
        }
        let needs = self.needs();
        for at in (0..stays.len()).filter(|at| !needs.of(*at).is_empty()) {
            if stays[at] {
                needs.missing(at, |_| false).into_iter().for_each(|needed| stays[needed] = true);
            }
        }
        let mut each = stays.iter().copied();
        self.items.retain(|_| each.next().unwrap_or(true));
        let mut each = stays.iter().copied();
        self.bundles.retain(|_| each.next().unwrap_or(true));
        let mut each = stays.iter().copied();
        self.weights.retain(|_| each.next().unwrap_or(true));
    }

    /// Takes the handles of an earlier list where an item equals the one that stood at its place, so that
    /// whoever remembers something of that item knows it again. Says how many are new.
    pub fn reuse(&mut self, earlier: &[ContextItem]) -> usize {
        let mut reused = 0;
        for (item, known) in self.items.iter_mut().zip(earlier) {
            if item == known {
                item.clone_from(known);
                reused += 1;
            }
        }
        self.items.len() - reused
    }

    /// The request with nothing but these candidates; what is fixed is always in it.
    ///
    /// Messages stay in the order of the request, items are written in the order given.
    pub fn render(&self, kept: &[usize]) -> String {
        self.request.splice().keep(self.kept_messages(kept))
    }

    /// Number of messages these candidates have.
    pub fn message_count_of(&self, kept: &[usize]) -> usize {
        self.kept_messages(kept).len()
    }

    /// The messages of these candidates, by their indices in the request's own list, in the order
    /// in which [`render`](Self::render) writes them: for whoever has the messages as objects of
    /// their own and wants to go on with those.
    pub fn kept_messages(&self, kept: &[usize]) -> Vec<usize> {
        let mut left: Vec<Option<&Bundle>> = self.bundles.iter().map(Some).collect();
        let bundles = kept.iter().filter_map(|at| left.get_mut(*at)?.take());
        let mut order: Vec<usize> = bundles.flat_map(|bundle| &bundle.messages).copied().collect();
        if !self.request.format().has_free_order() {
            order.sort_unstable();
        }
        order
    }
}

impl fmt::Debug for Candidates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidates")
            .field("request", &self.request)
            .field("bundles", &self.bundles)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::testing::{Words, read};

    fn candidates(text: &str) -> Candidates {
        read(text, Format::OpenAiChat).candidates(&Words, &CandidateOptions::default()).unwrap()
    }

    #[test]
    fn what_is_removed_no_longer_competes_unless_it_is_pinned() {
        let mut candidates = candidates(
            r#"[{"role":"user","content":"a"},{"role":"assistant","content":"b"},
            {"role":"user","content":"c"}]"#,
        );
        let total = candidates.total_tokens();
        candidates.remove(&[0, 2, 7]);
        let texts: Vec<&str> = candidates.items().iter().map(ContextItem::content).collect();
        assert_eq!(texts, ["b", "c"]);
        assert_eq!(candidates.bundle(0).message_indices(), [1]);
        assert_eq!(candidates.kept_messages(&[0, 1]), [1, 2]);
        assert_eq!(candidates.last_user_turn(), Some(1));
        assert_eq!(candidates.total_tokens(), total);
        let rest = r#"[{"role":"assistant","content":"b"},{"role":"user","content":"c"}]"#;
        assert_eq!(candidates.render(&[0, 1]), rest);
    }

    #[test]
    fn what_an_agent_did_since_the_user_spoke_is_known() {
        let candidates = candidates(
            r#"[{"role":"system","content":"s"},{"role":"user","content":"a"},
            {"role":"assistant","content":"b"},{"role":"user","content":"c"},
            {"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]},
            {"role":"tool","tool_call_id":"1","content":"x"},{"role":"assistant","content":"d"}]"#,
        );
        assert_eq!(candidates.last_user_turn(), Some(3));
        assert_eq!(candidates.since_last_user_turn(), [4, 5]);
    }

    #[test]
    fn what_is_pinned_is_listed_by_size() {
        let candidates = candidates(
            r#"[{"role":"system","content":"s"},{"role":"system","content":"a b c"},
            {"role":"user","content":"a b"}]"#,
        );
        let sizes: Vec<i64> = candidates.pinned_by_size().iter().map(|b| b.tokens()).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes.len() == 3, "{sizes:?}");
    }

    #[test]
    fn candidates_outlive_the_text_and_the_request_and_cross_threads() {
        fn assert_owned<T: Send + Sync + Clone + 'static>(value: T) -> T {
            value
        }
        let candidates = {
            let text = String::from(r#"[{"role":"user","content":"a\nb"}]"#);
            let request = assert_owned(Request::parse(text, None).unwrap());
            request.candidates(&Words, &CandidateOptions::default()).unwrap()
        };
        let rendered = std::thread::spawn(move || assert_owned(candidates).render(&[0])).join();
        assert_eq!(rendered.unwrap(), r#"[{"role":"user","content":"a\nb"}]"#);
    }
}
