//! Account of a window: tokens in the cache and not, beside those of other windows.

use std::collections::HashSet;

use cupel_chat::{Bundle, PinReason};

use super::decide::Stage;
use super::history::NewAccount;
use super::plan::Plan;
use super::state::{Account, Totals, Usage};
use super::{CacheRule, MarkRule, SessionSettings};
use crate::prepare::Chosen;

impl Stage<'_> {
    pub(super) fn is_cold(&self) -> bool {
        self.found.new_account.is_some_and(NewAccount::is_cold)
    }

    /// Tokens of a window that are in the cache by the provider's rule, and those that are not.
    pub(super) fn cached(&self, kept: &[Chosen], messages: &[usize], unchanged: usize) -> Usage {
        let found = match &self.marked {
            Some(cache) => cache.found(messages, unchanged),
            None => Some(unchanged),
        };
        let all = self.usage(kept, &messages[..found.unwrap_or(0)]);
        let rule = self.settings.cache_rule.unwrap_or(CacheRule::ANY_PREFIX);
        // A client that sets no mark has nothing cached where the provider goes by marks.
        let is_unmarked = matches!(rule, CacheRule::Marks { .. })
            && self.marked.is_none()
            && self.settings.cache_marks != MarkRule::Write;
        let is_found = found.is_some() && !is_unmarked;
        let cached = if is_found { rule.kept_tokens(all.cached_tokens) } else { 0 };
        Usage::new(cached, all.tokens().saturating_sub(cached))
    }

    /// Tokens of a window that the provider had, and those that it had not.
    fn usage(&self, kept: &[Chosen], unchanged: &[usize]) -> Usage {
        let unchanged: HashSet<&usize> = unchanged.iter().collect();
        let mut usage = Usage::default();
        for chosen in kept {
            let bundle = self.prepared.candidates().bundle(chosen.0);
            let is_cached = !self.is_cold()
                && bundle.message_indices().iter().all(|message| unchanged.contains(message));
            let tokens = self.prepared.tokens_as(*chosen);
            usage.add(if is_cached { Usage::new(tokens, 0) } else { Usage::new(0, tokens) });
        }
        usage
    }

    pub(super) fn account(&self, plan: &Plan, usage: Usage) -> Account {
        let Some(before) = self.before.filter(|_| self.found.new_account.is_none()) else {
            let head_tokens = self.head_tokens();
            let arrived_tokens = if self.is_cold() {
                usage.uncached_tokens.saturating_sub(head_tokens)
            } else {
                usage.uncached_tokens
            };
            let uncached_tokens = usage.uncached_tokens;
            return Account { head_tokens, arrived_tokens, uncached_tokens, overdrawn_tokens: 0 };
        };
        let mut account = before.account;
        account.arrived_tokens = account.arrived_tokens.saturating_add(self.arrived_tokens);
        account.uncached_tokens = account.uncached_tokens.saturating_add(usage.uncached_tokens);
        let overdrawn = plan.again_tokens.saturating_sub(self.credit.max(0)).max(0);
        account.overdrawn_tokens = account.overdrawn_tokens.saturating_add(overdrawn);
        account
    }

    /// Tokens before all messages.
    fn head_tokens(&self) -> i64 {
        let is_head = |bundle: &&Bundle| {
            bundle.is_fixed() || bundle.pin_reason() == Some(&PinReason::SystemPrompt)
        };
        let head = self.prepared.candidates().bundles().iter().take_while(is_head);
        sum(head.map(Bundle::tokens))
    }

    pub(super) fn totals(&self, usage: Usage) -> Totals {
        let mut totals = self.before.map_or_else(Totals::default, |before| before.totals);
        totals.sent.add(usage);
        let all = self.prepared.read.whole_tokens;
        let fresh = if self.is_cold() { all } else { self.arrived_tokens.min(all) };
        totals.everything.add(Usage::new(all.saturating_sub(fresh), fresh));
        self.add_newest_first(&mut totals);
        totals
    }

    /// Adds the tokens of the step if the newest messages that fit had been sent.
    fn add_newest_first(&self, totals: &mut Totals) {
        let room = self.budget.target_tokens();
        let head = self.prepared.items().iter().take_while(|item| item.pinned()).count();
        let tokens = |at: usize| self.units[at].tokens;
        let head_tokens = sum((0..head).map(tokens));
        let (mut first, mut sent) = (self.units.len(), head_tokens);
        while first > head && sent.saturating_add(tokens(first - 1)) <= room {
            first -= 1;
            sent = sent.saturating_add(tokens(first));
        }
        let cached = if self.is_cold() {
            0
        } else if first == totals.newest_from {
            let fresh = (first..self.units.len()).filter(|at| self.units[*at].is_new).map(tokens);
            sent.saturating_sub(sum(fresh))
        } else {
            head_tokens
        };
        totals.newest_from = first;
        totals.newest_first.add(Usage::new(cached, sent.saturating_sub(cached)));
    }
}

/// Tokens together, however many.
pub(super) fn sum(tokens: impl Iterator<Item = i64>) -> i64 {
    tokens.fold(0, i64::saturating_add)
}

pub(super) fn share(settings: &SessionSettings, tokens: i64) -> i64 {
    (tokens.max(0) as f64 * settings.resend_share).floor() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_whole_tokens() {
        let settings = SessionSettings { resend_share: 0.25, ..SessionSettings::default() };
        let share = |tokens| super::share(&settings, tokens);
        assert_eq!([8, 7, 4, 3, 0, -8].map(share), [2, 1, 1, 0, 0, 0]);
    }

    #[test]
    fn a_sum_of_tokens_never_wraps() {
        assert_eq!(sum([1, 2, 3].into_iter()), 6);
        assert_eq!(sum([i64::MAX, 1].into_iter()), i64::MAX);
    }
}
