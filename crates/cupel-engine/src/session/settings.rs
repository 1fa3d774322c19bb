//! The constants of a session.

use std::time::Duration;

use cupel_tokens::Prices;
use serde::Deserialize;

use super::CacheRule;

/// Treatment of the marks for the provider's cache in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MarkRule {
    /// They stay where the client set them.
    #[default]
    Keep,
    /// Where none of them finds what the provider has of the request, one more goes there, if there are less
    /// than four; else that of an older message. What stands before the last mark is written into the cache
    /// anyway, so that the request costs no more than before.
    Move,
    /// They stay, and others are written behind what [`breakpoints`](crate::SessionStep::breakpoints) says.
    Write,
    /// They are taken out.
    Off,
}

/// The constants of a session.
///
/// ```
/// # use cupel_engine::SessionSettings;
/// let settings = SessionSettings::default();
/// assert_eq!(settings.resend_share, 0.3);
/// assert_eq!(settings.cache_lifetime.as_secs(), 300);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SessionSettings {
    /// Number of tokens that may be sent again for each that arrives. Uncached tokens stay below the head
    /// and one plus this times what arrived.
    pub resend_share: f64,
    /// Least worth of a token that is sent again, as a share of the average worth of one in
    /// the best window, the head aside.
    pub threshold: f64,
    /// Exponent of size when items compete to be sent again: their worth is divided by
    /// tokens to this power.
    pub size_exponent: f64,
    /// Time that the provider remembers.
    pub cache_lifetime: Duration,
    /// The rule of the provider's cache, by which the session cuts and counts. Without one, the beginning
    /// that the last request has too is cached; in a request with marks of Anthropic, what these find.
    pub cache_rule: Option<CacheRule>,
    /// Treatment of marks for the cache in requests of providers that want them, which is Anthropic.
    pub cache_marks: MarkRule,
    /// Prices of tokens, instead of those of the table of models.
    pub prices: Option<Prices>,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            resend_share: 0.3,
            threshold: 0.5,
            size_exponent: 0.55,
            cache_lifetime: Duration::from_secs(300),
            cache_rule: None,
            cache_marks: MarkRule::Keep,
            prices: None,
        }
    }
}
