use crate::CupelError;

/// Takes a stream of items in micro-batches, until the budget is full.
///
/// Hand it to [`Pipeline::run_stream`](crate::Pipeline::run_stream).
///
/// **When to choose it:** candidates arrive one by one from a search or a database, and pulling
/// all of them would cost more than it is worth.
///
/// **Steps:** pull a batch; its pinned items are taken and count first; the others are scored as a
/// list of their own, deduplicated (also against earlier batches), sorted, and sliced into what is
/// left of the target; stop as soon as nothing is left.
///
/// **Pins:** a pinned item that was pulled is always in the window, or the run fails as that of a
/// list would. Where it takes room that earlier batches have used, the slicer chooses once more
/// among what it chose there. What was not pulled was not seen: a pinned item behind the point
/// where the target was full is missed, unless you ask for [all pins](Self::with_all_pins).
///
/// **Ties and edge cases:** a batch is always full but for the last one, so the result does not
/// depend on timing. An item competes only within its batch: later ones that are not pinned cannot
/// displace it. Items that were never pulled are not reported. Quotas of the pipeline's slicer apply
/// to each batch.
///
/// **Cost:** that of the pipeline for each batch. Memory grows with what was pulled.
///
/// # Example
///
/// ```
/// use cupel::StreamSlice;
///
/// assert_eq!(StreamSlice::default().batch_size(), 32);
/// assert!(StreamSlice::new(0).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamSlice {
    batch_size: usize,
    takes_all_pins: bool,
}

impl StreamSlice {
    /// The batch size when none is given.
    pub const DEFAULT_BATCH_SIZE: usize = 32;

    /// Takes so many items at a time.
    ///
    /// # Errors
    ///
    /// [`CupelError::SlicerConfig`] if `batch_size` is 0.
    pub fn new(batch_size: usize) -> Result<Self, CupelError> {
        if batch_size == 0 {
            return Err(CupelError::SlicerConfig("batch_size: must be positive, got 0".into()));
        }
        Ok(Self { batch_size, ..Self::default() })
    }

    /// Reads the stream to its end, so that no pinned item is missed.
    ///
    /// Once the target is full, items that are not pinned are passed over: they are not candidates,
    /// not held in memory, and not reported. An endless stream never gets there.
    #[must_use]
    pub fn with_all_pins(self) -> Self {
        Self { takes_all_pins: true, ..self }
    }

    /// Number of items that are taken at a time.
    pub fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// Returns true if the stream is read to its end for pinned items.
    pub fn takes_all_pins(&self) -> bool {
        self.takes_all_pins
    }
}

impl Default for StreamSlice {
    fn default() -> Self {
        Self { batch_size: Self::DEFAULT_BATCH_SIZE, takes_all_pins: false }
    }
}
