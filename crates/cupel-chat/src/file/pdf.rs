//! Number of pages a PDF has.

/// Where pages cannot be seen, since they are compressed, a page is taken to have so many bytes.
const BYTES_PER_PAGE: usize = 10_000;

/// Bytes from the beginning within which a file may say that it is a PDF.
const HEADER: usize = 1_024;

pub(super) fn is_pdf(file: &[u8]) -> bool {
    find(&file[..file.len().min(HEADER)], b"%PDF-").is_some()
}

/// The pages that the file says it has; else the pages that can be seen; else, where they are
/// compressed, by its size, but not more than there are streams that could be pages.
pub(super) fn pages(file: &[u8]) -> u64 {
    let (mut said, mut seen, mut streams) = (None, 0_usize, 0_usize);
    let mut rest = file;
    while !rest.is_empty() {
        let end = find(rest, b"endobj").unwrap_or(rest.len());
        let object = &rest[..end];
        match type_of(object) {
            Some(Node::Tree) => said = said.max(number_after(object, b"/Count")),
            Some(Node::Page) => seen += 1,
            None if find(object, b"/Linearized").is_some() => {
                said = said.max(number_after(object, b"/N"));
            }
            None => streams += usize::from(may_be_content(object)),
        }
        rest = rest.get(end + b"endobj".len()..).unwrap_or_default();
    }
    let by_size = file.len().div_ceil(BYTES_PER_PAGE);
    let bound = if streams == 0 { by_size } else { by_size.min(streams) };
    let seen = if seen == 0 { bound } else { seen };
    said.filter(|said| *said > 0).unwrap_or_else(|| u64::try_from(seen).unwrap_or(u64::MAX))
}

/// Returns true if an object is a stream that says of itself no more than its length: what a page shows, and
/// little else.
fn may_be_content(object: &[u8]) -> bool {
    const OTHERS: [&[u8]; 5] = [b"/Type", b"/Subtype", b"/Length1", b"/Alternate", b"/N "];
    find(object, b"stream")
        .is_some_and(|at| OTHERS.iter().all(|other| find(&object[..at], other).is_none()))
}

/// A node of the tree of pages.
enum Node {
    Tree,
    Page,
}

fn type_of(object: &[u8]) -> Option<Node> {
    let mut rest = object;
    while let Some(at) = find(rest, b"/Type") {
        rest = &rest[at + b"/Type".len()..];
        let name = rest.trim_ascii_start();
        if name.starts_with(b"/Pages") {
            return Some(Node::Tree);
        }
        if name.starts_with(b"/Page") && !name.get(5).is_some_and(u8::is_ascii_alphabetic) {
            return Some(Node::Page);
        }
    }
    None
}

/// The number behind a name.
fn number_after(object: &[u8], name: &[u8]) -> Option<u64> {
    let mut rest = object;
    while let Some(at) = find(rest, name) {
        rest = &rest[at + name.len()..];
        let digits = rest.trim_ascii_start();
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&digits[..count]).ok().and_then(|text| text.parse().ok());
        if number.is_some() {
            return number;
        }
    }
    None
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_the_tree_says_how_many_pages_there_are() {
        let file = b"%PDF-1.7\n1 0 obj<</Count 2/Type/Pages/Kids[3 0 R]>>endobj\n\
            2 0 obj << /Type /Pages /Kids [1 0 R] /Count 31 >> endobj\n\
            9 0 obj << /Type /Outlines /Count 400 >> endobj\n3 0 obj<</Type/Page>>endobj";
        assert!(is_pdf(file));
        assert_eq!(pages(file), 31);
    }

    #[test]
    fn pages_that_can_be_seen_are_counted() {
        let file = b"%PDF-1.3\n1 0 obj <</Type /Page /Parent 2 0 R>> endobj\n\
            4 0 obj <</Type/Page>> endobj 5 0 obj <</Type /PageLabel>> endobj";
        assert_eq!(pages(file), 2);
    }

    #[test]
    fn a_file_that_is_written_for_the_web_says_it_first() {
        assert_eq!(pages(b"%PDF-1.5\n1 0 obj <</Linearized 1/L 9/N 12>> endobj"), 12);
    }

    #[test]
    fn without_any_of_that_the_size_bounds_it() {
        let file = [b"%PDF-1.5".as_slice(), &vec![b'x'; 45_000]].concat();
        assert_eq!(pages(&file), 5);
        assert!(!is_pdf(b"PDF"));
    }

    #[test]
    fn there_are_no_more_pages_than_streams_that_could_be_theirs() {
        let page = b"7 0 obj <</Filter/FlateDecode/Length 9>> stream\nxyz\nendstream endobj\n";
        let image = b"8 0 obj <</Type/XObject/Subtype/Image/Length 90000>> stream\n";
        let picture = [image.as_slice(), &vec![b'x'; 90_000], b"endstream endobj\n"].concat();
        let file = [b"%PDF-1.5\n".as_slice(), page, &picture, page, page].concat();
        assert_eq!(pages(&file), 3);
    }
}
