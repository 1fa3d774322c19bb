//! Kept messages are, byte for byte, as they were.

use cupel_chat::{CandidateOptions, Candidates, Format, Request};

use crate::generate;
use crate::pipelines::Quarters;
use crate::sound::{EXAMPLES, example};

/// Everything that reading and writing again would change, around three messages; the one in the
/// middle can go.
const ODD: &str = "{ \"seed\": 12345678901234567890123, \"top_p\":1.0,\"x\":1e3,\n\
    \t\"messages\" :[\r\n\
    {\"role\":\"us\\u0065r\", \"content\":\"caf\\u00e9 \\/ \\ud83e\\udd80\", \"x\":1, \"x\":2, \"big\":1E+400},\n\
    {\"content\":\"middle\",\"role\":\"assistant\",\"z\":{\"b\":-0.0,\"a\":[ ]}} ,\n\
    {\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"last\",\"cache_control\":{\"type\":\"ephemeral\"}}]}\n\
    ], \"dup\":1, \"dup\":[true , false], \"model\":\"gpt-4o\"} \n";

fn candidates(request: &Request) -> Candidates {
    request.candidates(&Quarters, &CandidateOptions::default()).unwrap()
}

#[test]
fn nothing_left_out_is_nothing_changed() {
    let generated = Format::ALL
        .into_iter()
        .flat_map(|format| (0..200).map(move |seed| (format, generate::request(format, seed))));
    let examples = EXAMPLES.into_iter().map(|(name, format)| (format, example(name)));
    for (format, text) in generated.chain(examples).chain([(Format::OpenAiChat, ODD.to_owned())]) {
        let request = Request::parse(text.as_str(), Some(format)).unwrap();
        let candidates = candidates(&request);
        let all: Vec<usize> = (0..candidates.items().len()).collect();
        assert_eq!(candidates.render(&all), text);
    }
}

#[test]
fn what_remains_keeps_its_spelling() {
    let request = Request::parse(ODD, None).unwrap();
    assert_eq!(request.format(), Format::OpenAiChat);
    let output = candidates(&request).render(&[0, 2]);
    let middle = "{\"content\":\"middle\",\"role\":\"assistant\",\"z\":{\"b\":-0.0,\"a\":[ ]}}";
    let (before, after) = ODD.split_once(middle).unwrap();
    // One comma goes with the message; white space beside it may go too.
    let without_space = |text: &str| text.replace(char::is_whitespace, "");
    let expected = without_space(before) + without_space(after).strip_prefix(',').unwrap();
    assert_eq!(without_space(&output), expected);
    for kept in [
        "{ \"seed\": 12345678901234567890123, \"top_p\":1.0,\"x\":1e3,\n\t\"messages\" :[",
        "{\"role\":\"us\\u0065r\", \"content\":\"caf\\u00e9 \\/ \\ud83e\\udd80\", \"x\":1, \"x\":2, \"big\":1E+400}",
        "{\"type\":\"text\",\"text\":\"last\",\"cache_control\":{\"type\":\"ephemeral\"}}",
        "], \"dup\":1, \"dup\":[true , false], \"model\":\"gpt-4o\"} \n",
    ] {
        assert!(output.contains(kept), "{kept} is not in\n{output}");
    }
}

#[test]
fn a_byte_order_mark_stays() {
    let text = format!("\u{feff}{ODD}");
    let request = Request::parse(text.as_str(), None).unwrap();
    assert_eq!(candidates(&request).render(&[0, 1, 2]), text);
    assert!(candidates(&request).render(&[2]).starts_with('\u{feff}'));
}

#[test]
fn items_are_written_in_the_order_given() {
    let text = "[ {\"content\":\"a\", \"n\":1.0},{\"content\":\"b\"} , {\"content\":\"c\"} ]";
    let request = Request::parse(text, Some(Format::Items)).unwrap();
    let output = candidates(&request).render(&[2, 0]);
    let without_space = output.replace(' ', "");
    assert_eq!(without_space, "[{\"content\":\"c\"},{\"content\":\"a\",\"n\":1.0}]");
}

#[test]
fn lines_stay_lines() {
    for end in ["\n", "\r\n"] {
        let lines =
            ["{\"content\":\"a\",\"n\":1e3}", "{ \"content\" : \"b\" }", "{\"content\":\"c\"}"];
        let text = lines.join(end) + end;
        let request = Request::parse(text.as_str(), Some(Format::ItemLines)).unwrap();
        let candidates = candidates(&request);
        assert_eq!(candidates.render(&[0, 2]), [lines[0], lines[2]].join(end) + end);
        assert_eq!(candidates.render(&[2, 1, 0]), [lines[2], lines[1], lines[0]].join(end) + end);
    }
}

#[test]
fn positions_given_twice_or_beyond_the_end_do_no_harm() {
    let request = Request::parse(ODD, None).unwrap();
    let candidates = candidates(&request);
    assert_eq!(candidates.render(&[2, 1, 1, 0, 9]), ODD);
    assert_eq!(candidates.message_count_of(&[2, 2, 7]), 1);
}
