//! The tables of steps and tokens.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::layout::{LEAF, NO_TOKEN, ROOT, STEP_BYTE, STEP_NODE, STEP_TAKEN, TOKEN_PREFIX};
use crate::merges::Merges;

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
        let mut nodes = HashMap::new();
        for (token, spelling) in (0u32..).zip(&merges.spellings) {
            let node = spelling.iter().fold(0, |node, &byte| {
                *nodes.entry((node, byte)).or_insert_with(|| trie.add(node, byte))
            });
            trie.tokens[node] = token;
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
    /// Which entries are taken, in blocks of 256: what follows a node is in the block of its number.
    taken: Vec<bool>,
    used: Vec<bool>,
    /// All entries before this one are taken, or were given up.
    first: usize,
}

impl Numbers {
    /// A number for a node that these bytes follow.
    fn choose(&mut self, bytes: &[u8]) -> usize {
        let mut tried = 0;
        for at in self.first.. {
            if at + 256 > self.taken.len() {
                self.taken.resize(self.taken.len() + 256, false);
                self.used.resize(self.taken.len(), false);
            }
            if self.taken[at] {
                self.first += usize::from(at == self.first);
                continue;
            }
            let number = at ^ usize::from(bytes[0]);
            let is_free = |&byte: &u8| !self.taken[number ^ usize::from(byte)];
            if !self.used[number] && bytes.iter().all(is_free) {
                self.used[number] = true;
                for &byte in bytes {
                    self.taken[number ^ usize::from(byte)] = true;
                }
                return number;
            }
            tried += 1;
            if tried > PATIENCE {
                self.first = at;
            }
        }
        unreachable!("there is always room in a new block")
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
    let mut chosen = Numbers { taken: vec![true; 256], used: vec![true; 256], first: 256 };
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
