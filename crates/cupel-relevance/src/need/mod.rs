//! Need: the values that will be needed next, as far as the past tells.
//!
//! An agent's next call needs ids, paths and names that stand somewhere in what was said and done.
//! Which of them, nobody knows; but every message tells what was on its mind. The rules, one by one:
//!
//! 1. **A value** is what later calls may need: a token with a digit, an underscore, a slash, an
//!    inner dot, colon or capital; or a short JSON string. JSON keys are none.
//! 2. **Every message spreads one unit of need** over the values that it mentions, evenly. What a
//!    call asks for, what is said beside it and what came back are three messages.
//! 3. **Need fades** with the tokens that came after: `(1 + tokens / reach)^-fade`.
//! 4. **Plain numbers** count a fifth: most of them are never asked for again.
//! 5. **A value's need** is the sum over its mentions. It is covered by any item that holds it:
//!    what is kept already makes the same value elsewhere worth nothing.
//! 6. **Talk is not worthless**: every item has a little need of its own, which fades too; more for
//!    what the user said, and more for what the user said first, where the task mostly stands.
//! 7. **Instructions take no part**: the system prompt and tool definitions are always there.
//! 8. **Whether values come back** is seen from the calls so far: the share of them that hold a
//!    value which was said or came back before. Where none do, need carries nothing.
//!
//! [`Need`] is rules 2 to 8, [`Mentions`] rule 1, kept between requests.

mod exchange;
mod mentions;
mod store;
mod value;
mod weigh;

pub(crate) use exchange::{is_exchange, is_user_turn};
pub use mentions::Mentions;
pub use value::for_each_value;
pub(crate) use weigh::to_units;
pub use weigh::{Need, NeedParameters};
