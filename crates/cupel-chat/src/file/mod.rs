//! Files within a request: what they are, and what is known of their size.
//!
//! A file is looked into when it is counted, not when the request is read, and once.

mod base64;
mod image;
mod mp3;
mod pdf;
mod sound;

use std::sync::OnceLock;

use cupel_tokens::Attachment;

pub use base64::decode as decode_base64;
pub(crate) use image::image_size;

use crate::json::{Json, Object};
use crate::text::Text;

/// Where blocks hold the fields of a file, if not in themselves.
const HOLDERS: [&str; 9] = [
    "file",
    "input_audio",
    "audio",
    "source",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    // Version 4 of the AI SDK's providers: bytes, an address or a text, by its type.
    "data",
];

/// The fields of a file itself; all else beside them is text.
pub(crate) const FIELDS: [&str; 6] =
    ["file_data", "data", "base64", "bytes", "format", "source_type"];

/// Sound whose length cannot be read has at least so many bytes a second: speech at 16 kbit/s.
const SOUND_BYTES: u64 = 2_000;

/// Sound and films that are only named are taken to last five minutes.
const USUAL_LENGTH: u64 = 300_000;

/// A film has at least so many bytes a second: 200 kbit/s.
const FILM_BYTES: u64 = 25_000;

/// A file that a block attaches.
pub(crate) struct File {
    /// Its bytes in base64, with or without the beginning of a `data:` address; `None` if the file
    /// is elsewhere.
    data: Option<Text>,
    /// Media type that the request states.
    media_type: Option<Text>,
    /// Type that the content shows, once somebody looked.
    opened: OnceLock<Opened>,
}

/// Type of a file by its content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    /// A text.
    Text(String),
    /// Anything else.
    Attachment(Attachment),
}

impl File {
    /// The file of a block, and what holds its fields, if that is not the block itself.
    pub(crate) fn of<'t>(block: &Object<'t>) -> (Self, Option<(&'static str, Object<'t>)>) {
        let holder = block.any_of(&HOLDERS).and_then(|(name, json)| Some((name, json.object()?)));
        let fields = holder.as_ref().map_or(block, |(_, fields)| fields);
        let text = |names| fields.any_of(names).and_then(|(_, json): (_, Json<'_>)| json.text());
        let opened = match &holder {
            Some(("data", told)) => told.text("text").map(|text| Opened::Text(text.to_string())),
            _ => None,
        };
        let data = text(&["file_data", "data", "base64", "bytes", "url"]);
        // Some write where it is in the place of what it holds.
        let data =
            data.filter(|data| !data.starts_with("https://") && !data.starts_with("http://"));
        const KINDS: [&str; 5] = ["media_type", "mime_type", "mimeType", "mediaType", "format"];
        let beside = || block.any_of(&KINDS).and_then(|(_, kind)| kind.text());
        let media_type = text(&KINDS).or_else(beside);
        let opened = opened.map_or_else(OnceLock::new, OnceLock::from);
        (Self { data, media_type, opened }, holder)
    }

    /// Looks into it. What the bytes are counts more than what they are said to be.
    pub(crate) fn open(&self) -> &Opened {
        self.opened.get_or_init(|| self.look())
    }

    fn look(&self) -> Opened {
        let said = self.media_type.as_deref();
        let Some(data) = self.data.as_deref() else {
            return Opened::Attachment(match said.and_then(|said| said.split('/').next()) {
                Some("audio") => Attachment::Sound(USUAL_LENGTH),
                Some("video") => Attachment::Film(USUAL_LENGTH),
                _ => Attachment::Elsewhere,
            });
        };
        let (address, payload) = match data.strip_prefix("data:").and_then(|d| d.split_once(',')) {
            Some((address, payload)) => (address, payload),
            None => ("", data),
        };
        let is_plain = !address.is_empty() && !address.ends_with(";base64");
        let Some(bytes) = base64::decode(payload).filter(|_| !is_plain) else {
            return Opened::Text(payload.to_owned());
        };
        match attachment(&bytes, said.unwrap_or(address)) {
            Some(attachment) => Opened::Attachment(attachment),
            None => match String::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => Opened::Text(text),
                Ok(text) => Opened::Attachment(Attachment::Bytes(size(text.as_bytes()))),
                Err(error) => Opened::Attachment(Attachment::Bytes(size(error.as_bytes()))),
            },
        }
    }
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Pages and seconds, where a file has such.
fn attachment(bytes: &[u8], said: &str) -> Option<Attachment> {
    const SOUNDS: [&str; 8] = ["wav", "mp3", "flac", "opus", "ogg", "aac", "m4a", "pcm16"];
    let lasts = |each: u64| (size(bytes) / each).saturating_mul(1_000);
    if pdf::is_pdf(bytes) {
        return Some(Attachment::Pages(pdf::pages(bytes)));
    }
    let lasts_exactly = sound::wav_milliseconds(bytes).or_else(|| mp3::mp3_milliseconds(bytes));
    if let Some(milliseconds) = lasts_exactly {
        return Some(Attachment::Sound(milliseconds));
    }
    if said.starts_with("audio") || SOUNDS.contains(&said) || sound::is_sound(bytes) {
        return Some(Attachment::Sound(lasts(SOUND_BYTES).max(1_000)));
    }
    if said.starts_with("video") || bytes.get(4..8) == Some(b"ftyp") {
        return Some(Attachment::Film(lasts(FILM_BYTES).max(1_000)));
    }
    None
}

/// The text that is written in base64; `None` if it is none.
pub(crate) fn decode_text(letters: &str) -> Option<String> {
    String::from_utf8(base64::decode(letters)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::encode;

    fn open(block: &str) -> Opened {
        File::of(&Json::parse(block).unwrap().object().unwrap()).0.look()
    }

    #[test]
    fn every_format_attaches_a_pdf_in_its_own_way() {
        let pdf = encode(b"%PDF-1.4\n1 0 obj <</Type /Pages /Count 7 /Kids []>> endobj");
        for block in [
            format!(
                r#"{{"type":"file","file":{{"filename":"a.pdf","file_data":"data:application/pdf;base64,{pdf}"}}}}"#
            ),
            format!(r#"{{"type":"input_file","file_data":"{pdf}"}}"#),
            format!(
                r#"{{"type":"document","source":{{"type":"base64","media_type":"application/pdf","data":"{pdf}"}}}}"#
            ),
            format!(r#"{{"inlineData":{{"mimeType":"application/pdf","data":"{pdf}"}}}}"#),
            format!(r#"{{"type":"file","base64":"{pdf}","mime_type":"application/pdf"}}"#),
        ] {
            assert_eq!(open(&block), Opened::Attachment(Attachment::Pages(7)), "{block}");
        }
    }

    #[test]
    fn a_text_file_is_its_text() {
        let text = encode("name,size\nÄpfel,3\n".as_bytes());
        let block = format!(r#"{{"file_data":"data:text/csv;base64,{text}"}}"#);
        assert_eq!(open(&block), Opened::Text("name,size\nÄpfel,3\n".to_owned()));
        let plain = open(r#"{"file_data":"data:text/plain,hello there"}"#);
        assert_eq!(plain, Opened::Text("hello there".to_owned()));
        assert_eq!(open(r#"{"data":"not base64!"}"#), Opened::Text("not base64!".to_owned()));
    }

    #[test]
    fn what_cannot_be_read_is_bounded_by_its_size() {
        let zip = encode(&[b"PK\x03\x04".as_slice(), &[0xfe; 396]].concat());
        let block = format!(r#"{{"file":{{"filename":"a.docx","file_data":"{zip}"}}}}"#);
        assert_eq!(open(&block), Opened::Attachment(Attachment::Bytes(400)));
        let sound = encode(&[b"ID3".as_slice(), &[0xfe; 4_000]].concat());
        let block = format!(r#"{{"input_audio":{{"data":"{sound}","format":"mp3"}}}}"#);
        assert_eq!(open(&block), Opened::Attachment(Attachment::Sound(2_000)));
        assert_eq!(
            open(r#"{"fileData":{"mimeType":"video/mp4","fileUri":"u"}}"#),
            Opened::Attachment(Attachment::Film(300_000))
        );
        assert_eq!(
            open(r#"{"type":"file","file":{"file_id":"f"}}"#),
            Opened::Attachment(Attachment::Elsewhere)
        );
    }
}
