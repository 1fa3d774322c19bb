//! The size of an image, from the beginning of its file.

use super::base64::decode_beginning;

/// Number of letters of a file are looked at: what comes before the size in a photo, as its thumbnail, is
/// smaller than this.
const LONGEST_HEADER: usize = 256 * 1024;

/// Width and height of a PNG, JPEG, GIF or WebP image that is given in base64, with or without the
/// beginning of a `data:` address.
pub(crate) fn image_size(base64: &str) -> Option<(u32, u32)> {
    let base64 = match base64.strip_prefix("data:") {
        Some(address) => address.split_once(";base64,")?.1,
        None => base64,
    };
    let file = decode_beginning(base64, LONGEST_HEADER)?;
    png(&file).or_else(|| gif(&file)).or_else(|| webp(&file)).or_else(|| jpeg(&file))
}

pub(super) fn big_endian(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

pub(super) fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn png(file: &[u8]) -> Option<(u32, u32)> {
    let header = file.strip_prefix(b"\x89PNG\r\n\x1a\n")?.get(8..16)?;
    Some((big_endian(&header[..4]), big_endian(&header[4..])))
}

fn gif(file: &[u8]) -> Option<(u32, u32)> {
    let header = file.strip_prefix(b"GIF8")?.get(2..6)?;
    Some((little_endian(&header[..2]), little_endian(&header[2..])))
}

fn webp(file: &[u8]) -> Option<(u32, u32)> {
    let chunk = file.strip_prefix(b"RIFF")?.get(4..)?.strip_prefix(b"WEBP")?;
    let body = chunk.get(8..)?;
    match chunk.get(..4)? {
        b"VP8X" => {
            let size = body.get(4..10)?;
            Some((little_endian(&size[..3]) + 1, little_endian(&size[3..]) + 1))
        }
        b"VP8L" => {
            let bits = little_endian(body.get(1..5)?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8 " => {
            let size = body.get(6..10)?;
            Some((little_endian(&size[..2]) & 0x3fff, little_endian(&size[2..]) & 0x3fff))
        }
        _ => None,
    }
}

/// Goes from segment to segment until one begins a frame.
fn jpeg(file: &[u8]) -> Option<(u32, u32)> {
    let mut rest = file.strip_prefix(b"\xff\xd8")?;
    loop {
        let &[0xff, marker, ..] = rest else { return None };
        let body = rest.get(2..)?;
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let size = body.get(3..7)?;
            return Some((big_endian(&size[2..]), big_endian(&size[..2])));
        }
        rest = body.get(big_endian(body.get(..2)?).max(2) as usize..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::base64::encode;
    use super::*;

    #[test]
    fn sizes_are_read_from_each_kind_of_file() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x03\0\x08";
        let gif = b"GIF89a\x40\x01\xc8\0\0";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc2\0\x0b\x08\x01\xe0\x02\x80\x03";
        let webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x07\0\x37\x04\0";
        assert_eq!(image_size(&encode(png)), Some((1024, 768)));
        assert_eq!(image_size(&encode(gif)), Some((320, 200)));
        assert_eq!(image_size(&encode(jpeg)), Some((640, 480)));
        assert_eq!(image_size(&encode(webp)), Some((1920, 1080)));
        let address = format!("data:image/png;base64,{}", encode(png));
        assert_eq!(image_size(&address), Some((1024, 768)));
    }

    #[test]
    fn what_is_no_image_has_no_size() {
        let endless = [b"\xff\xd8".as_slice(), &b"\xff\xe0\0\0".repeat(100)].concat();
        for file in [&b""[..], b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBPVP8X", &endless]
        {
            assert_eq!(image_size(&encode(file)), None);
        }
        assert_eq!(image_size("https://example.org/a.png"), None);
    }
}
