//! Tools that make room for the messages, where a request does not fit.

use cupel::{ContextBudget, ContextItem, Pipeline, ToolsDescription};
use cupel_chat::Request;
use cupel_tokens::TokenCounter;

use super::read::{Purpose, ReadRequest};
use super::room::Room;
use super::tokens_of;
use crate::engine::Settings;
use crate::memo::SessionMemory;
use crate::session::SessionState;
use crate::tools::{ToolMode, Tools};
use crate::{EngineError, Options};

/// Tools may take this part of the window, whatever else there is: one in so many tokens. Below it, shorter tools
/// free too little for what they lose.
const PART_OF_WINDOW: i64 = 4;

/// The last step of a session, for whoever goes on with it.
#[derive(Clone, Copy)]
pub(crate) struct Before<'s> {
    pub(crate) state: &'s SessionState,
    /// Still in the provider's cache.
    pub(crate) is_cached: bool,
}

impl ReadRequest {
    /// Lets tools leave room for the messages, where the request does not fit: from then on it is the request
    /// with those tools. What was decided goes into `tools` and `sent_tools`.
    pub(super) fn fit_tools(
        &mut self,
        settings: &Settings,
        options: &Options,
        purpose: Purpose<'_>,
        counter: &dyn TokenCounter,
    ) -> Result<(), EngineError> {
        let mode = mode(settings, options);
        if mode == ToolMode::Keep {
            return Ok(());
        }
        let Ok(budget) = Room::new(settings, options, self).budget else { return Ok(()) };
        let excess = excess(self.candidates.items(), &budget);
        if excess == Some(0) {
            return Ok(());
        }
        let request = self.candidates.request().clone();
        let candidate_options = self.candidates.options();
        let mut tools =
            Tools::of(&request, &candidate_options.rules, candidate_options.overheads, counter);
        if tools.all().is_empty() {
            return Ok(());
        }
        let whole = tools.whole_tokens();
        let room = budget.target_tokens().min(budget.max_tokens() - budget.output_reserve());
        let pinned = tokens_of(self.candidates.items().iter().filter(|item| item.pinned()));
        // What must be in besides leaves so much.
        let most = room.saturating_sub(pinned.saturating_sub(whole)).max(0);
        let share = room / PART_OF_WINDOW;
        let question = super::judge::query(options, &self.candidates);
        let forms = match purpose {
            Purpose::Window => {
                let enough = match excess {
                    Some(excess) => whole.saturating_sub(excess),
                    None => self.left_by_messages(whole, room),
                };
                tools.within(mode, share.max(enough).min(most), &question)
            }
            Purpose::Session { memory, before } => {
                let standing = before
                    .filter(|before| before.is_gone_on_with(self, memory))
                    .map(|before| &before.state.tools)
                    .filter(|sent| !sent.is_empty())
                    .and_then(|sent| tools.going_on(sent, mode, &question))
                    .filter(|forms| tools.total(forms) <= most.max(share));
                match standing {
                    Some(forms) => forms,
                    None => tools.within(mode, share.min(most), &question),
                }
            }
        };
        self.sent_tools = Tools::sent(&forms);
        if self.sent_tools.is_empty() {
            return Ok(());
        }
        self.tools = tools.told(&forms, &question);
        let text = request.with_tools(tools.all(), &forms);
        let again = Request::parse_after(text, Some(request.format()), &request)?;
        let options = self.candidates.options().clone();
        self.candidates = again.candidates_after(counter, &options, &self.candidates)?;
        self.supersede(settings, purpose);
        Ok(())
    }
}

impl Before<'_> {
    /// Tells if a request goes on from what was sent: the same head, and the same first message.
    fn is_gone_on_with(&self, read: &ReadRequest, memory: &SessionMemory) -> bool {
        let first = || memory.fingerprints(read.candidates.request()).first().copied();
        let sent = self.state.messages.first().map(|sent| sent.0);
        self.is_cached && self.state.head.0 == read.head && sent == first()
    }
}

/// Way with tools by the call, the engine or the policy, in this order.
fn mode(settings: &Settings, options: &Options) -> ToolMode {
    let of_policy = settings.policy.description().tools.map(|tools| match tools {
        ToolsDescription::Keep => ToolMode::Keep,
        ToolsDescription::Shorten => ToolMode::Shorten,
        ToolsDescription::Choose => ToolMode::Choose,
    });
    options.tools.or(settings.tools).or(of_policy).unwrap_or_default()
}

impl ReadRequest {
    /// Tokens that all messages leave to the tools, if counts are off as far as they may be.
    fn left_by_messages(&self, tools: i64, room: i64) -> i64 {
        let margin = self.bound().map_or(0.0, |texts| texts.margin_percent_of(room));
        let safe = (room as f64 / (1.0 + margin / 100.0)).floor() as i64;
        safe.saturating_sub(tokens_of(self.candidates.items()).saturating_sub(tools))
    }
}

/// Tokens that are too many; `None` if what must be in does not fit.
fn excess(items: &[ContextItem], budget: &ContextBudget) -> Option<i64> {
    let room = Pipeline::competing_tokens(items, budget).ok()?;
    let competing = tokens_of(items.iter().filter(|item| !item.pinned()));
    Some(competing.saturating_sub(room).max(0))
}
