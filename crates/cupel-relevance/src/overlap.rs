//! Overlap of two sets.

/// The members that two sorted lists share, as a share of all their members; 0 for two empty ones.
pub(crate) fn jaccard<T: Ord>(a: &[T], b: &[T]) -> f64 {
    let common = in_common(a, b);
    let all = a.len() + b.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

/// Number of members two sorted lists share.
pub(crate) fn in_common<T: Ord>(a: &[T], b: &[T]) -> usize {
    let (mut at, mut other, mut common) = (0, 0, 0);
    while at < a.len() && other < b.len() {
        let order = a[at].cmp(&b[other]);
        common += usize::from(order.is_eq());
        at += usize::from(order.is_le());
        other += usize::from(order.is_ge());
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_counts_once_in_the_whole() {
        assert_eq!(jaccard(&[1, 2, 3], &[2, 3, 4]), 0.5);
        assert_eq!(jaccard(&[1], &[1]), 1.0);
        assert_eq!(jaccard(&[1], &[2]), 0.0);
        assert_eq!(jaccard::<u8>(&[], &[]), 0.0);
        assert_eq!(in_common(&[1, 5, 9], &[0, 5, 9, 10]), 2);
    }
}
