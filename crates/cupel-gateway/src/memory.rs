//! Memory for requests in flight: bounded in total, so that no number of large bodies ends the process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes that a place stands for.
const PLACE: usize = 1_024;

/// Bytes that a byte of a body may take while it is read and made to fit. Measured: 2.4 in 2,000 messages
/// of 500 bytes.
const OF_A_BYTE: usize = 8;

/// Bytes that a value takes beside those of its text, an object or an element of a list. Measured: a message of 30 bytes
/// 1,770, a call without an id 2,970, a number in place of a block 1,650 (each is a rule broken, and said), a block 440.
const OF_A_VALUE: usize = 3_000;

/// Bytes that a byte of a body takes while its answer comes: as it came, as it is kept for the page, and as
/// it went out.
const OF_A_SENT_BYTE: usize = 3;

/// Shares of the memory, one of which is for requests that need no more: large ones must not lock all others out.
const SHARES: usize = 8;

/// Memory for requests in flight.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    places: Arc<Semaphore>,
    total: usize,
}

impl Memory {
    /// So many bytes, or a quarter of the machine's memory.
    pub(crate) fn new(bytes: Option<usize>) -> Self {
        let bytes = bytes.unwrap_or_else(|| machine_bytes() / 4);
        let total = (bytes / PLACE).clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self { places: Arc::new(Semaphore::new(total)), total }
    }

    /// Nothing yet, for a request that begins.
    pub(crate) fn begin(&self) -> Held {
        Held { memory: self.clone(), permit: Arc::default() }
    }

    /// Bytes that are taken.
    pub(crate) fn taken(&self) -> usize {
        (self.total - self.places.available_permits().min(self.total)) * PLACE
    }
}

/// The memory that one request holds: given back when all who work for it are done, also where its client left
/// meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    memory: Memory,
    permit: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Held {
    /// The most values that all the memory there is suffices for.
    pub(crate) fn most_values(&self) -> usize {
        self.memory.total.saturating_mul(PLACE) / OF_A_VALUE
    }

    /// Takes what a body of so many bytes and values needs. `false` if there is too little. A body that needs more
    /// than a share leaves one to the others; one that would need more than is there without it gets that.
    pub(crate) fn take(&self, body: usize, values: usize) -> bool {
        let bytes = body.saturating_mul(OF_A_BYTE);
        let bytes = bytes.saturating_add(values.saturating_mul(OF_A_VALUE));
        let share = self.memory.total / SHARES;
        let wanted = (bytes / PLACE).clamp(1, self.memory.total - share);
        let mut held = self.lock();
        let more = wanted.saturating_sub(places(held.as_ref()));
        if more == 0 {
            return true;
        }
        let Ok(count) = u32::try_from(more) else { return false };
        let Ok(permit) = self.memory.places.clone().try_acquire_many_owned(count) else {
            return false;
        };
        if wanted > share && self.memory.places.available_permits() < share {
            return false;
        }
        match &mut *held {
            Some(held) => held.merge(permit),
            None => *held = Some(permit),
        }
        true
    }

    /// Gives back what a body of so many bytes does not need any more once it is sent.
    pub(crate) fn sent(&self, body: usize) {
        let kept = (body.saturating_mul(OF_A_SENT_BYTE) / PLACE).max(1);
        let mut held = self.lock();
        let spare = places(held.as_ref()).saturating_sub(kept);
        if let Some(permit) = &mut *held {
            drop(permit.split(spare));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn places(permit: Option<&OwnedSemaphorePermit>) -> usize {
    permit.map_or(0, OwnedSemaphorePermit::num_permits)
}

/// The memory of this machine, or of the container that the process is in.
fn machine_bytes() -> usize {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let machine = of_meminfo(&read("/proc/meminfo"));
    let container = read("/sys/fs/cgroup/memory.max").trim().parse().ok();
    // Where neither says anything, as much as small machines have.
    machine.into_iter().chain(container).min().unwrap_or(4_000_000_000)
}

fn of_meminfo(text: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_taken_as_a_body_grows_and_given_back() {
        let memory = Memory::new(Some(100 * PLACE * OF_A_BYTE));
        let (one, two) = (memory.begin(), memory.begin());
        assert!(one.take(40 * PLACE, 0) && one.take(60 * PLACE, 0), "as it grows");
        assert_eq!(memory.taken(), 60 * PLACE * OF_A_BYTE);
        assert!(!two.take(28 * PLACE, 0), "what is left without a share does not suffice");
        assert!(!two.take(27 * PLACE, 2), "a value takes more than its text");
        assert!(two.take(27 * PLACE, 0));
        let small = memory.begin();
        assert!(small.take(12 * PLACE, 0), "the share is for those that need no more");
        assert!(!memory.begin().take(13 * PLACE, 0));
        drop(small);
        one.sent(60 * PLACE);
        assert_eq!(places(one.lock().as_ref()), 60 * OF_A_SENT_BYTE);
        assert!(memory.begin().take(30 * PLACE, 0));
        drop((one, two));
        assert_eq!(memory.taken(), 0);
    }

    #[test]
    fn a_body_that_needs_more_than_there_is_gets_all_of_it_but_for_a_share() {
        let memory = Memory::new(Some(10 * PLACE));
        let large = memory.begin();
        assert!(large.take(usize::MAX, usize::MAX));
        assert_eq!(large.most_values(), 3, "10,240 bytes");
        assert_eq!(memory.taken(), 9 * PLACE);
        assert!(memory.begin().take(1, 0));
        assert!(!memory.begin().take(2 * PLACE, 0));
    }

    #[test]
    fn the_machine_says_how_much_it_has() {
        assert_eq!(of_meminfo("x: 1\nMemTotal:  2048 kB\nMemFree: 1 kB"), Some(2_097_152));
        assert_eq!(of_meminfo("MemTotal: many"), None);
        assert!(machine_bytes() > 100_000_000);
    }
}
