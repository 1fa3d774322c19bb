//! Looks up something for the kind of each item.

use super::ContextKind;

/// Number of spellings that are remembered: few, because searching them must be quicker than `find`.
const REMEMBERED: usize = 8;

/// Number of kinds that are read ahead, so that the processor can wait for several of them at once.
const BLOCK: usize = 64;

/// Passes to `take`, for each kind, what `find` says about it. As most kinds are constants, those
/// with the very same text, at the same place in memory, are looked up once.
pub(crate) fn look_up_kinds<'a, T: Copy>(
    mut kinds: impl Iterator<Item = &'a ContextKind>,
    mut find: impl FnMut(&'a ContextKind) -> T,
    mut take: impl FnMut(T),
) {
    let mut known: Vec<(&str, T)> = Vec::with_capacity(REMEMBERED);
    let mut block = Vec::with_capacity(BLOCK);
    loop {
        block.extend(kinds.by_ref().take(BLOCK).map(|kind| (kind, kind.as_str())));
        if block.is_empty() {
            return;
        }
        for (kind, text) in block.drain(..) {
            if let Some((_, answer)) = known.iter().find(|(other, _)| std::ptr::eq(*other, text)) {
                take(*answer);
                continue;
            }
            let answer = find(kind);
            if known.len() < REMEMBERED {
                known.push((text, answer));
            }
            take(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_gets_its_answer_in_order_also_beyond_a_block_and_what_is_remembered() {
        let own = |number: usize| ContextKind::new(format!("own {}", number % 20)).unwrap();
        let kinds: Vec<ContextKind> = (0..=3 * BLOCK)
            .map(|number| if number % 3 == 0 { ContextKind::memory() } else { own(number) })
            .collect();
        let (mut lookups, mut answers) = (0, Vec::new());
        look_up_kinds(
            kinds.iter(),
            |kind| {
                lookups += 1;
                kind.as_str()
            },
            |answer| answers.push(answer),
        );
        assert!(answers.iter().copied().eq(kinds.iter().map(ContextKind::as_str)));
        assert!(lookups < kinds.len());
    }
}
