//! Score by the question, and its weight.

use cupel::{ContextItem, CupelError, SliceRequest};

use crate::grouping::{in_time, tag_value};
use crate::need::is_user_turn;
use crate::parameter;

/// Weight of the question beside need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Price of an item's size: its score is divided by tokens to this power.
    pub size_exponent: f64,
    /// Price of the room that an item takes: its score is multiplied by the share of the window
    /// that it leaves free, to this power.
    pub room_exponent: f64,
    /// The question counts nothing where the best score is no more than so many times the mean.
    pub gate_from: f64,
    /// It counts in full where it is so much more than that.
    pub gate_over: f64,
}

impl Default for Question {
    fn default() -> Self {
        Self { size_exponent: 0.15, room_exponent: 2.0, gate_from: 1.5, gate_over: 4.0 }
    }
}

/// Score of each candidate by the question.
pub(super) struct Asked {
    /// Weight of the question.
    pub(super) rho: f64,
    /// For each candidate what it says, the best being 1.
    pub(super) shares: Vec<f64>,
    /// For each candidate what is left of that once it has paid for the room that it takes.
    pub(super) rooms: Vec<f64>,
    /// For each item of the list which in time it is.
    pub(super) order: Vec<u32>,
    /// Tokens after the user's last turn; `None` if the user never spoke.
    pub(super) newer_tokens: Option<i64>,
}

impl Question {
    pub(super) fn check(&self) -> Result<(), CupelError> {
        parameter::not_negative("question_size_exponent", self.size_exponent)?;
        parameter::not_negative("room_exponent", self.room_exponent)?;
        parameter::not_negative("gate_from", self.gate_from)?;
        parameter::positive("gate_over", self.gate_over)
    }

    /// Scores as shares of the best, for candidates that stand before the user's last turn.
    pub(super) fn asked(
        &self,
        request: &SliceRequest<'_>,
        list: &[ContextItem],
        positions: &[usize],
    ) -> Asked {
        let by_time = in_time(list);
        let mut order = vec![0; list.len()];
        for (number, at) in (0..).zip(&by_time) {
            order[*at as usize] = number;
        }
        let last_turn = last_user_turn(list, &by_time);
        let is_asked_of = |at: usize| last_turn.is_none_or(|turn| order[at] < turn);
        let mut shares = vec![0.0; positions.len()];
        let mut asked_of = 0_usize;
        for ((share, candidate), at) in shares.iter_mut().zip(request.candidates).zip(positions) {
            if is_asked_of(*at) {
                asked_of += 1;
                let score = candidate.score();
                *share = if score.is_finite() { score.max(0.0) } else { 0.0 };
            }
        }
        let rho = self.rho(&shares, asked_of);
        for (share, candidate) in shares.iter_mut().zip(request.candidates) {
            *share /= (candidate.tokens().max(1) as f64).powf(self.size_exponent);
        }
        let largest = largest(&shares);
        for share in &mut shares {
            *share /= largest;
        }
        let budget = request.budget.target_tokens() as f64;
        let room = |tokens: i64| (1.0 - tokens as f64 / budget).max(0.0).powf(self.room_exponent);
        let rooms = request.candidates.iter().map(|candidate| room(candidate.tokens())).collect();
        let newer_tokens = last_turn.map(|turn| {
            let newer = by_time[turn as usize + 1..].iter().map(|at| list[*at as usize].tokens());
            newer.fold(0, |sum: i64, tokens| sum.saturating_add(tokens.max(0)))
        });
        Asked { rho, shares, rooms, order, newer_tokens }
    }

    /// Distance of the best above the mean.
    fn rho(&self, scores: &[f64], asked_of: usize) -> f64 {
        let mean = scores.iter().sum::<f64>() / asked_of.max(1) as f64;
        let best = scores.iter().copied().fold(0.0, f64::max);
        if mean <= 0.0 || !mean.is_finite() {
            return 0.0;
        }
        ((best / mean - self.gate_from) / self.gate_over).clamp(0.0, 1.0)
    }
}

/// Which in time the user's last turn is.
fn last_user_turn(list: &[ContextItem], by_time: &[u32]) -> Option<u32> {
    let find = |is_meant: &dyn Fn(&ContextItem) -> bool| {
        by_time.iter().rposition(|at| is_meant(&list[*at as usize])).map(|turn| turn as u32)
    };
    find(&is_user_turn).or_else(|| find(&|item| tag_value(item, "role") == Some("user")))
}

/// The largest, or 1 where none is positive.
fn largest(shares: &[f64]) -> f64 {
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}
