//! Which entries of a document are kept at which share of its cost.

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

/// How much a share keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    /// How many entries, containers included.
    pub(crate) entries: usize,
    /// Share of what the values are worth.
    pub(crate) worth_share: f64,
    /// Share of the document's cost.
    pub(crate) cost_share: f64,
}

/// What no share keeps.
const NEVER: u8 = u8::MAX;

impl Selection {
    /// Chooses for each of the shares, which ascend. What one keeps, all later ones keep.
    pub(crate) fn new(tree: &Tree<'_>, shares: &[f64]) -> Self {
        let order = by_density(tree);
        let mut growing = Growing::new(tree);
        let kept = (0..).zip(shares).map(|(place, share)| growing.grow(place, *share, &order));
        let kept = kept.collect();
        Self { first_kept: growing.first_kept, kept }
    }

    /// Whether a share, by its place, keeps an entry.
    pub(crate) fn keeps(&self, place: u8, entry: u32) -> bool {
        self.first_kept.get(entry as usize).is_some_and(|first| *first <= place)
    }

    /// What each share keeps.
    pub(crate) fn kept(&self) -> &[Kept] {
        &self.kept
    }
}

/// What is worth keeping, most weight for its cost first, then in the order of the text.
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

struct Growing<'s, 't> {
    tree: &'s Tree<'t>,
    first_kept: Vec<u8>,
    /// By container: how many of its entries are left out.
    left_out: Vec<u32>,
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
        Self { tree, first_kept, left_out, entries: 0, cost, worth: 0, all_worth }
    }

    /// Adds what fits into a share.
    fn grow(&mut self, place: u8, share: f64, order: &[u64]) -> Kept {
        let limit = (self.tree.cost as f64 * share) as u64;
        for packed in order {
            let room = limit.saturating_sub(self.cost);
            if room < u64::from(cost::ENTRY) {
                break;
            }
            self.take_if_it_fits(*packed as u32, place, room);
        }
        let share_of = |part: u64, all: u64| (part as f64 / all.max(1) as f64).min(1.0);
        Kept {
            entries: self.entries,
            worth_share: share_of(self.worth, self.all_worth),
            cost_share: share_of(self.cost, self.tree.cost),
        }
    }

    /// Takes an entry with the containers around it, unless that costs more than `room`.
    fn take_if_it_fits(&mut self, index: u32, place: u8, room: u64) {
        let entries = &self.tree.entries;
        let (mut at, mut cost) = (index, 0);
        while at != NO_PARENT && self.first_kept[at as usize] == NEVER {
            cost += u64::from(entries[at as usize].cost);
            if cost > room {
                return;
            }
            at = entries[at as usize].parent;
        }
        at = index;
        while at != NO_PARENT && self.first_kept[at as usize] == NEVER {
            let entry = &entries[at as usize];
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
