//! Records that were left out of a transcript, for people to read.

/// Remarks about a file, and what of it was skipped.
#[derive(Default)]
pub(super) struct Notes {
    remarks: Vec<String>,
    skipped: Vec<Skipped>,
}

/// Something that was skipped, once or more.
struct Skipped {
    what: String,
    count: usize,
    first_line: Option<usize>,
}

impl Notes {
    /// Adds a remark.
    pub(super) fn say(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }

    /// Takes note that something was skipped.
    pub(super) fn skip(&mut self, what: impl Into<String>, line: Option<usize>) {
        let what = what.into();
        match self.skipped.iter_mut().find(|skipped| skipped.what == what) {
            Some(skipped) => skipped.count += 1,
            None => self.skipped.push(Skipped { what, count: 1, first_line: line }),
        }
    }

    /// All of them: remarks, then what was skipped.
    pub(super) fn finish(self) -> Vec<String> {
        let skipped = self.skipped.into_iter().map(|Skipped { what, count, first_line }| {
            match (count, first_line) {
                (1, Some(line)) => format!("skipped on line {line}: {what}"),
                (1, None) => format!("skipped: {what}"),
                (_, Some(line)) => format!("skipped {count} times, first on line {line}: {what}"),
                (_, None) => format!("skipped {count} times: {what}"),
            }
        });
        self.remarks.into_iter().chain(skipped).collect()
    }
}
