//! The tables of steps and tokens.

use std::cmp::Reverse;

use super::layout::{LEAF, NO_TOKEN, ROOT, STEP_BYTE, STEP_NODE, STEP_TAKEN, TOKEN_PREFIX};
use super::merges::Merges;

/// After so many places that do not do, earlier ones are given up for good.
const PATIENCE: usize = 100;

/// Every beginning of every token; the empty one is first.
struct Trie {
    /// The token that each node spells.
    tokens: Vec<u32>,
    /// The nodes that follow each, with their bytes.
    children: Vec<Vec<(u8, usize)>>,
}

impl Trie {
    fn new(merges: &Merges) -> Self {
        let mut trie = Self { tokens: vec![NO_TOKEN], children: vec![Vec::new()] };
        let mut sorted: Vec<usize> = (0..merges.spellings.len()).collect();
        sorted.sort_unstable_by_key(|&token| &merges.spellings[token]);
        // The nodes on the way to the token before: what two neighbours begin with is there once.
        let (mut way, mut last): (_, &[u8]) = (vec![0], &[]);
        for token in sorted {
            let spelling = merges.spellings[token].as_slice();
            let alike = last.iter().zip(spelling).take_while(|(a, b)| a == b).count();
            way.truncate(alike + 1);
            for &byte in &spelling[alike..] {
                way.push(trie.add(way[way.len() - 1], byte));
            }
            trie.tokens[way[way.len() - 1]] = token as u32;
            last = spelling;
        }
        trie
    }

    fn add(&mut self, parent: usize, byte: u8) -> usize {
        let node = self.tokens.len();
        self.tokens.push(NO_TOKEN);
        self.children.push(Vec::new());
        self.children[parent].push((byte, node));
        node
    }
}

/// Numbers for nodes, such that what follows them does not collide.
struct Numbers {
    /// For each entry itself if it is free, or else one behind it before which none is. They come in blocks of 256: what follows a
    /// node is in the block of its number.
    next: Vec<usize>,
    used: Vec<bool>,
    /// All entries before this one are taken, or were given up.
    first: usize,
}

impl Numbers {
    /// The first block is taken, since its numbers have a meaning of their own.
    fn new() -> Self {
        Self { next: vec![256; 256], used: vec![true; 256], first: 256 }
    }

    /// A number for a node that these bytes follow.
    fn choose(&mut self, bytes: &[u8]) -> usize {
        let (mut tried, mut at) = (0, self.free_from(self.first));
        loop {
            let number = at ^ usize::from(bytes[0]);
            let is_free = |&byte: &u8| {
                let entry = number ^ usize::from(byte);
                self.next[entry] == entry
            };
            if !self.used[number] && bytes.iter().all(is_free) {
                self.used[number] = true;
                for entry in bytes.iter().map(|&byte| number ^ usize::from(byte)) {
                    self.next[entry] = entry + 1;
                }
                return number;
            }
            tried += 1;
            if tried > PATIENCE {
                self.first = at;
            }
            at = self.free_from(at + 1);
        }
    }

    /// The first free entry at or behind one. Ways that were gone once are shorter the next time.
    fn free_from(&mut self, mut at: usize) -> usize {
        loop {
            if at == self.next.len() {
                self.next.extend(at..at + 256);
                self.used.resize(at + 256, false);
            }
            let next = self.next[at];
            if next == at {
                return at;
            }
            if let Some(&beyond) = self.next.get(next) {
                self.next[at] = beyond;
            }
            at = next;
        }
    }
}

/// Steps, and tokens.
pub(crate) fn tables(merges: &Merges) -> (Vec<u64>, Vec<u32>) {
    let trie = Trie::new(merges);
    let numbers = numbers(&trie);
    let entries = 1 + numbers.iter().max().copied().unwrap_or_default() as usize / 256;
    let mut steps = vec![0u64; entries * 256];
    for (children, &number) in trie.children.iter().zip(&numbers) {
        for &(byte, child) in children {
            steps[(number ^ u32::from(byte)) as usize] = u64::from(numbers[child]) << STEP_NODE
                | STEP_TAKEN
                | u64::from(byte) << STEP_BYTE
                | u64::from(trie.tokens[child]);
        }
    }
    (steps, tokens(merges, &trie))
}

/// The number of each node. Those that much follows choose first, while there is room.
fn numbers(trie: &Trie) -> Vec<u32> {
    let mut numbers = vec![LEAF; trie.tokens.len()];
    let mut chosen = Numbers::new();
    numbers[0] = ROOT;
    let mut nodes: Vec<usize> =
        (1..trie.tokens.len()).filter(|&node| !trie.children[node].is_empty()).collect();
    nodes.sort_by_key(|&node| Reverse(trie.children[node].len()));
    for node in nodes {
        let bytes: Vec<u8> = trie.children[node].iter().map(|&(byte, _)| byte).collect();
        numbers[node] = chosen.choose(&bytes) as u32;
    }
    numbers
}

/// The longest other token that each begins with, and its length.
fn tokens(merges: &Merges, trie: &Trie) -> Vec<u32> {
    let mut prefixes: Vec<u32> = (0u32..).take(merges.spellings.len()).collect();
    let mut open = vec![(0, NO_TOKEN)];
    while let Some((node, above)) = open.pop() {
        let token = trie.tokens[node];
        if token != NO_TOKEN && above != NO_TOKEN {
            prefixes[token as usize] = above;
        }
        let nearest = if token == NO_TOKEN { above } else { token };
        open.extend(trie.children[node].iter().map(|&(_, child)| (child, nearest)));
    }
    let lengths = merges.spellings.iter().map(|spelling| spelling.len() as u32);
    prefixes.iter().zip(lengths).map(|(prefix, length)| prefix << TOKEN_PREFIX | length).collect()
}
