//! Strategies inside of a strategy that is not built in: read once, however often they are built.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{ScorerDescription, SlicerDescription, WeightedScorer};

/// What an option was read as.
#[derive(Debug)]
pub(super) enum Inner {
    Scorer(ScorerDescription),
    Scorers(Vec<WeightedScorer>),
    Slicer(SlicerDescription),
}

/// The options of a strategy that were read as other strategies, by their names. Copies share them:
/// whoever changes an option begins anew.
#[derive(Debug, Clone, Default)]
pub(super) struct Nested(Arc<Mutex<Known>>);

type Known = Vec<(&'static str, Arc<Inner>)>;

impl Nested {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<Inner>> {
        self.known().iter().find(|(known, _)| *known == name).map(|(_, inner)| inner.clone())
    }

    pub(super) fn keep(&self, name: &'static str, inner: Inner) -> Arc<Inner> {
        let inner = Arc::new(inner);
        self.known().push((name, inner.clone()));
        inner
    }

    /// The names of all of them.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.known().iter().map(|(name, _)| *name).collect()
    }
}

/// What was read of options says nothing that the options do not.
impl PartialEq for Nested {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::environment::Environment;
    use super::super::{CustomStrategy, Options, StrategyProvider};
    use crate::wire::Problem;
    use crate::{FieldValue, FixedClock, Scorer, TimeProvider};
    use std::sync::Arc;

    /// A scorer that has another one inside.
    struct Wraps;

    impl StrategyProvider for Wraps {
        fn scorer_names(&self) -> &[&'static str] {
            &["wrapped"]
        }

        fn scorer(&self, _: &str, options: &mut Options<'_>) -> Result<Box<dyn Scorer>, Problem> {
            options.scorer("scorer")
        }
    }

    fn build(custom: &CustomStrategy) -> Result<(), String> {
        let clock: Arc<dyn TimeProvider> = Arc::new(FixedClock(chrono::DateTime::UNIX_EPOCH));
        let environment = Environment { clock: &clock, strategies: &Wraps };
        environment.scorer(custom).map(drop).map_err(|problem| problem.to_string())
    }

    #[test]
    fn what_was_read_once_is_built_again_and_told_the_same() {
        let inner = FieldValue::from(CustomStrategy::new("recency"));
        let wrapped = CustomStrategy::new("wrapped").with("scorer", inner);
        let twice =
            CustomStrategy::new("wrapped").with("scorer", FieldValue::from(wrapped.clone()));
        assert_eq!((build(&twice), build(&twice)), (Ok(()), Ok(())));
        assert_eq!(build(&wrapped), Ok(()));
        let unknown = wrapped.clone().with("scorre", 1.0);
        assert_ne!(unknown, wrapped);
        let told = build(&unknown).unwrap_err();
        assert!(told.contains("scorre: unknown field; did you mean `scorer`?"), "{told}");
        assert_eq!(build(&unknown).unwrap_err(), told);
        let again = wrapped.with("scorer", FieldValue::from(CustomStrategy::new("priority")));
        assert!(build(&again).unwrap_err().contains("is given twice"));
    }

    #[test]
    fn what_is_absent_or_wrong_stays_so() {
        let none = CustomStrategy::new("wrapped");
        let wrong = CustomStrategy::new("wrapped").with("scorer", 7.0);
        for _ in 0..2 {
            assert_eq!(build(&none), Err("scorer: is required".to_owned()));
            assert!(build(&wrong).unwrap_err().starts_with("scorer: "));
        }
    }
}
