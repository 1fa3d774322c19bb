//! Baselines without a policy: send everything, send the newest, or clear the results of tools.

use std::collections::BTreeSet;

use cupel_chat::Candidates;
use cupel_eval::Baseline;
use cupel_tokens::TokenCounter;

use crate::judge::WindowLayout;

/// Number of last results that `clear-tool-results` leaves alone, as in `cupel eval`.
const LEFT_ALONE: usize = 3;
/// Text in place of a result that was cleared, as in `cupel eval`.
const NOTE: &str = "[cleared]";

/// A window that no policy chose.
pub(crate) struct BaselineWindow {
    pub(crate) laid: WindowLayout,
    pub(crate) messages: Vec<usize>,
    pub(crate) tokens: i64,
    pub(crate) cleared: usize,
}

/// The window of a baseline; `None` if what must be kept does not fit.
pub(crate) fn window(
    baseline: Baseline,
    candidates: &Candidates,
    counter: &dyn TokenCounter,
    head: u64,
    prints: &[u64],
    budget: Option<i64>,
) -> Option<BaselineWindow> {
    let bundles = candidates.bundles();
    let mut tokens: Vec<i64> = candidates.items().iter().map(|item| item.tokens().max(0)).collect();
    let cleared = match baseline {
        // Nothing is cleared before it has to be.
        Baseline::ClearToolResults if budget.is_some_and(|budget| sum(&tokens) > budget) => {
            clear(candidates, counter, &mut tokens)
        }
        _ => BTreeSet::new(),
    };
    // The head is what must be kept whatever is said: instructions and definitions of tools.
    let is_head =
        |at: usize| bundles[at].message_indices().is_empty() || bundles[at].role() == "system";
    let all = 0..bundles.len();
    let mut kept: Vec<usize> = match (baseline, budget) {
        (Baseline::Everything, _) | (_, None) => all.collect(),
        (_, Some(budget)) => {
            let mut kept: Vec<usize> = all.clone().filter(|at| is_head(*at)).collect();
            let mut room = kept.iter().fold(budget, |room, at| room.saturating_sub(tokens[*at]));
            if room < 0 {
                return None;
            }
            for at in all.rev().filter(|at| !is_head(*at)) {
                room = room.saturating_sub(tokens[at]);
                if room < 0 {
                    break;
                }
                kept.push(at);
            }
            kept
        }
    };
    kept.sort_unstable();
    let kept_tokens: Vec<i64> = kept.iter().map(|at| tokens[*at]).collect();
    let messages = candidates.kept_messages(&kept);
    let parts: Vec<(i64, Vec<usize>)> =
        kept.iter().map(|at| (tokens[*at], bundles[*at].message_indices().to_vec())).collect();
    let gone: Vec<usize> = messages.iter().copied().filter(|at| cleared.contains(at)).collect();
    let laid = WindowLayout::of_parts(head, prints, &messages, &parts, &gone);
    Some(BaselineWindow { laid, tokens: sum(&kept_tokens), cleared: gone.len(), messages })
}

fn sum(tokens: &[i64]) -> i64 {
    tokens.iter().fold(0, |sum, tokens| sum.saturating_add(*tokens))
}

/// The messages whose results are cleared, and what their bundles cost then.
fn clear(
    candidates: &Candidates,
    counter: &dyn TokenCounter,
    tokens: &mut [i64],
) -> BTreeSet<usize> {
    let request = candidates.request();
    let results: Vec<(usize, i64)> = request
        .messages()
        .enumerate()
        .filter(|(_, message)| message.role() == "tool")
        .map(|(at, message)| (at, counter.count(&message.text())))
        .collect();
    let note = counter.count(NOTE);
    let older = &results[..results.len().saturating_sub(LEFT_ALONE)];
    for (bundle, cost) in candidates.bundles().iter().zip(tokens) {
        for (at, result) in older {
            if bundle.message_indices().contains(at) {
                *cost = cost.saturating_sub((*result - note).max(0)).max(0);
            }
        }
    }
    older.iter().map(|(at, _)| *at).collect()
}
