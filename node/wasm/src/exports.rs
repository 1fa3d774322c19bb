//! The functions that JavaScript calls.
#![expect(unsafe_code, reason = "the attribute that names a function; there is no unsafe block")]

use std::cell::RefCell;

use crate::{data, engines};

thread_local! {
    /// What comes in, then what goes out.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for so many bytes and says where.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        buffer.resize(length, 0);
        buffer.as_mut_ptr()
    })
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    BUFFER.with_borrow(Vec::as_ptr)
}

/// How many bytes the answer has.
#[unsafe(no_mangle)]
pub extern "C" fn length() -> usize {
    BUFFER.with_borrow(Vec::len)
}

/// Answers a question about a request. In the buffer are the settings of an engine and the question, of so many bytes each, and the
/// request. Says whether the answer is one; otherwise it is an error.
#[unsafe(no_mangle)]
pub extern "C" fn ask(settings: usize, question: usize) -> bool {
    answered(|given| {
        let (settings, rest) = given.split_at_checked(settings)?;
        let (question, request) = rest.split_at_checked(question)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Some(engines::ask(&text(settings), &text(question), text(request)))
    })
}

/// Takes a file of data: in the buffer are its name, of so many bytes, and its bytes.
#[unsafe(no_mangle)]
pub extern "C" fn supply(name: usize) -> bool {
    answered(|given| {
        let (name, file) = given.split_at_checked(name)?;
        Some(data::supply(&String::from_utf8_lossy(name), file))
    })
}

/// Names the files of data that were missed so far, one a line.
#[unsafe(no_mangle)]
pub extern "C" fn missed() -> bool {
    answered(|_| Some(Ok(data::missed())))
}

/// Puts an answer into the buffer instead of what was given.
fn answered(answer: impl FnOnce(&[u8]) -> Option<Result<String, String>>) -> bool {
    let given = BUFFER.take();
    let wrong = || Err(r#"{"code":"invalid-argument","rule":"the lengths are wrong"}"#.to_owned());
    let answer = answer(&given).unwrap_or_else(wrong);
    let is_answer = answer.is_ok();
    BUFFER.replace(answer.unwrap_or_else(|error| error).into_bytes());
    is_answer
}
