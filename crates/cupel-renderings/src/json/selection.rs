//! Which entries of a document are kept at which share of its cost.

use super::cut::Cut;
use super::tree::{Entry, Kind, NO_PARENT};
use super::{Tree, cost};

/// At which share each entry of a document is kept first.
#[derive(Debug)]
pub(crate) struct Selection {
    /// By entry: the first share that keeps it, as its place in the list of shares.
    first_kept: Vec<u8>,
    /// By share: what it keeps.
    kept: Vec<Kept>,
}

/// Entries that a share keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    /// Number of entries, containers included.
    pub(crate) entries: usize,
    /// The one that is not kept whole, if there is one.
    pub(crate) cut: Option<Cut>,
    /// True if that one costs more than all the rest.
    pub(crate) is_mostly_cut: bool,
    /// Share of what the values are worth.
    pub(crate) worth_share: f64,
    /// Share of the document's cost.
    pub(crate) cost_share: f64,
}

/// Share of an entry that no share keeps.
const NEVER: u8 = u8::MAX;

/// A text of so many bytes may be kept in part.
const LONG: usize = 400;

/// The least that is kept of it, in the units of `cost`.
const LEAST_OF_LONG: u64 = 20 * cost::TOKEN as u64;

/// Cost of the gap.
const GAP: u64 = 3 * cost::TOKEN as u64;

impl Selection {
    /// Chooses for each of the shares, which ascend. What one keeps, all later ones keep.
    pub(crate) fn new(tree: &Tree<'_>, shares: &[f64]) -> Self {
        let order = by_density(tree);
        let mut growing = Growing::new(tree);
        let kept = (0..).zip(shares).map(|(place, share)| growing.grow(place, *share, &order));
        let kept = kept.collect();
        Self { first_kept: growing.first_kept, kept }
    }

    /// Returns true if a share, by its place, keeps an entry.
    pub(crate) fn keeps(&self, place: u8, entry: u32) -> bool {
        self.first_kept.get(entry as usize).is_some_and(|first| *first <= place)
    }

    /// The text that a share, by its place, does not keep whole.
    pub(super) fn cut(&self, place: u8) -> Option<Cut> {
        self.kept.get(usize::from(place)).and_then(|kept| kept.cut)
    }

    /// Entries that each share keeps.
    pub(crate) fn kept(&self) -> &[Kept] {
        &self.kept
    }
}

/// Entries that are worth keeping, most weight for its cost first, then in the order of the text.
fn by_density(tree: &Tree<'_>) -> Vec<u64> {
    let worth = (0_u64..).zip(&tree.entries).filter(|(_, entry)| entry.weight > 0);
    let mut order: Vec<u64> = worth
        .map(|(index, entry)| {
            let density = (u32::from(entry.weight) << 20) / entry.cost.max(1);
            // One number for both, as there may be many millions to sort.
            u64::from(!density) << 32 | index
        })
        .collect();
    order.sort_unstable();
    order
}

/// The texts that may be kept in part, the longest first, then in the order of the text.
fn long_texts(tree: &Tree<'_>) -> Vec<u32> {
    let length = |index: &u32| tree.value(&tree.entries[*index as usize]).len();
    let prose = (0_u32..).zip(&tree.entries).filter(|(_, entry)| entry.kind == Kind::Prose);
    let texts = prose.filter(|(_, entry)| tree.value(entry).starts_with('"'));
    let mut long: Vec<u32> =
        texts.map(|(index, _)| index).filter(|index| length(index) >= LONG).collect();
    long.sort_by_key(|index| std::cmp::Reverse(length(index)));
    long
}

/// A text that is kept in part, and grows from share to share.
#[derive(Debug, Clone, Copy)]
struct Part {
    entry: u32,
    /// Cost of the whole text.
    whole: u64,
    /// Cost of the kept part.
    kept: u64,
}

struct Growing<'s, 't> {
    tree: &'s Tree<'t>,
    first_kept: Vec<u8>,
    /// By container: how many of its entries are left out.
    left_out: Vec<u32>,
    long_texts: Vec<u32>,
    part: Option<Part>,
    entries: usize,
    cost: u64,
    worth: u64,
    all_worth: u64,
}

impl<'s, 't> Growing<'s, 't> {
    fn new(tree: &'s Tree<'t>) -> Self {
        let mut first_kept = vec![NEVER; tree.entries.len()];
        let mut cost = 0;
        // The document itself is there in any case.
        if let (Some(first), Some(root)) = (first_kept.first_mut(), tree.entries.first()) {
            *first = 0;
            cost = u64::from(root.cost);
        }
        let mut left_out = vec![0; tree.entries.len()];
        for entry in tree.entries.iter().filter(|entry| entry.parent != NO_PARENT) {
            left_out[entry.parent as usize] += 1;
        }
        let all_worth = tree.entries.iter().map(Entry::worth).sum();
        let long_texts = long_texts(tree);
        let (entries, worth, part) = (0, 0, None);
        Self { tree, first_kept, left_out, long_texts, part, entries, cost, worth, all_worth }
    }

    /// Adds what fits into a share.
    fn grow(&mut self, place: u8, share: f64, order: &[u64]) -> Kept {
        let limit = (self.tree.cost as f64 * share) as u64;
        for packed in order {
            let room = limit.saturating_sub(self.cost);
            if room < u64::from(cost::ENTRY) {
                break;
            }
            let entry = *packed as u32;
            if self.opening_cost(entry, room).is_some() {
                self.take(entry, place);
            }
        }
        self.stretch(place, limit.saturating_sub(self.cost));
        self.kept()
    }

    fn kept(&self) -> Kept {
        let share_of = |part: f64, all: u64| (part / all.max(1) as f64).min(1.0);
        let worth = self.worth as f64 + self.part.map_or(0.0, |part| self.part_worth(part));
        Kept {
            entries: self.entries,
            cut: self.part.map(|part| self.cut(part)),
            is_mostly_cut: self.part.is_some_and(|part| part.kept > self.cost / 2),
            worth_share: share_of(worth, self.all_worth),
            cost_share: share_of(self.cost as f64, self.tree.cost),
        }
    }

    /// Worth of a text of which the beginning and the end are kept, as `HeadAndTail` has it.
    fn part_worth(&self, part: Part) -> f64 {
        let worth = self.tree.entries[part.entry as usize].worth() as f64;
        worth * (part.kept as f64 / part.whole.max(1) as f64).powf(0.8)
    }

    fn cut(&self, part: Part) -> Cut {
        let length = self.tree.value(&self.tree.entries[part.entry as usize]).len();
        let bytes = length as f64 * part.kept as f64 / part.whole.max(1) as f64;
        // Whatever the estimate, what is cut gets shorter.
        Cut { entry: part.entry, bytes: (bytes as usize).min(length.saturating_sub(LONG / 10)) }
    }

    /// Spends what is left on a part of a long text.
    fn stretch(&mut self, place: u8, room: u64) {
        match self.part {
            Some(part) if part.kept + room >= part.whole => {
                self.cost += (part.whole - part.kept).saturating_sub(GAP);
                self.worth += self.tree.entries[part.entry as usize].worth();
                self.part = None;
            }
            Some(part) => {
                self.cost += room;
                self.part = Some(Part { kept: part.kept + room, ..part });
            }
            None => self.part = self.begin_part(place, room),
        }
    }

    /// Takes a part of the longest text that is left out and fits in part.
    fn begin_part(&mut self, place: u8, room: u64) -> Option<Part> {
        let part_of = |entry: u32| {
            let frame = u64::from(self.tree.frame_cost(&self.tree.entries[entry as usize]));
            let whole = u64::from(self.tree.entries[entry as usize].cost).saturating_sub(frame);
            let around = self.opening_cost(entry, room.saturating_add(whole))? - whole + GAP;
            let kept = room.checked_sub(around).filter(|kept| *kept >= LEAST_OF_LONG)?;
            // What would fit whole but for the gap is not worth cutting.
            (kept < whole).then_some(Part { entry, whole, kept })
        };
        let left_out =
            self.long_texts.iter().filter(|entry| self.first_kept[**entry as usize] == NEVER);
        let part = left_out.copied().find_map(part_of)?;
        self.take(part.entry, place);
        self.cost = (self.cost + GAP + part.kept).saturating_sub(part.whole);
        self.worth -= self.tree.entries[part.entry as usize].worth();
        Some(part)
    }

    /// Cost of taking an entry with the containers around it that are not kept yet, unless
    /// that is more than `room`.
    fn opening_cost(&self, index: u32, room: u64) -> Option<u64> {
        let (mut at, mut cost) = (index, 0);
        while at != NO_PARENT && self.first_kept[at as usize] == NEVER {
            let entry = &self.tree.entries[at as usize];
            cost += u64::from(entry.cost);
            if cost > room {
                return None;
            }
            at = entry.parent;
        }
        Some(cost)
    }

    /// Takes an entry with the containers around it.
    fn take(&mut self, index: u32, place: u8) {
        let mut at = index;
        while at != NO_PARENT && self.first_kept[at as usize] == NEVER {
            let entry = &self.tree.entries[at as usize];
            debug_assert_ne!(entry.kind, Kind::Mark, "marks weigh nothing");
            self.first_kept[at as usize] = place;
            self.entries += 1;
            self.cost += u64::from(entry.cost);
            self.worth += entry.worth();
            at = entry.parent;
            self.note_kept(at);
        }
    }

    /// Notes that one more entry of a container is kept. One that is complete needs no mark.
    fn note_kept(&mut self, container: u32) {
        if let Some(left_out) = self.left_out.get_mut(container as usize) {
            *left_out -= 1;
            if *left_out == 0 {
                self.cost = self.cost.saturating_sub(u64::from(cost::MARK));
            }
        }
    }
}
