//! Processor time of a thread, whatever else the machine does.

use std::time::Instant;

/// The time that this thread had a processor, or where nobody tells it, the time that passed.
pub(crate) struct Clock {
    wall: Instant,
    processor: Option<u64>,
}

impl Clock {
    pub(crate) fn begin() -> Self {
        Self { wall: Instant::now(), processor: processor_nanoseconds() }
    }

    pub(crate) fn seconds(&self) -> f64 {
        match (self.processor, processor_nanoseconds()) {
            (Some(begun), Some(now)) => (now - begun) as f64 / 1e9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

fn processor_nanoseconds() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok()
}
