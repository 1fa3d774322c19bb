//! Playing time of sounds.

use super::image::little_endian;

/// Playing time of a WAV file.
pub(super) fn wav_milliseconds(file: &[u8]) -> Option<u64> {
    let mut chunks = file.strip_prefix(b"RIFF")?.get(4..)?.strip_prefix(b"WAVE")?;
    let mut bytes_per_second = None;
    while let Some(header) = chunks.get(..8) {
        let body = &chunks[8..];
        let length = little_endian(&header[4..]) as usize;
        match &header[..4] {
            b"fmt " => bytes_per_second = body.get(8..12).map(little_endian).filter(|b| *b > 0),
            b"data" => {
                // What is streamed has a length that it does not know yet.
                let played = length.min(body.len());
                let played = u64::try_from(played).unwrap_or(u64::MAX).saturating_mul(1_000);
                return Some(played.div_ceil(u64::from(bytes_per_second?)));
            }
            _ => {}
        }
        // Chunks begin at even places.
        chunks = body.get(length.saturating_add(length % 2)..)?;
    }
    None
}

/// Returns true if a file begins as MP3, FLAC or Ogg do.
pub(super) fn is_sound(file: &[u8]) -> bool {
    let is_frame = matches!(file, [0xff, second, ..] if *second & 0xe0 == 0xe0 && *second != 0xff);
    is_frame || [b"ID3".as_slice(), b"fLaC", b"OggS"].iter().any(|magic| file.starts_with(magic))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wav(data: usize) -> Vec<u8> {
        let mut file = b"RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0fmt \x10\0\0\0\x01\0\x01\0".to_vec();
        file.extend(16_000_u32.to_le_bytes());
        file.extend(32_000_u32.to_le_bytes());
        file.extend(b"\x02\0\x10\0data");
        file.extend(u32::try_from(data).unwrap().to_le_bytes());
        file.extend(vec![0; data]);
        file
    }

    #[test]
    fn a_wav_file_says_how_long_it_plays() {
        assert_eq!(wav_milliseconds(&wav(48_000)), Some(1_500));
        assert_eq!(wav_milliseconds(&wav(0)), Some(0));
    }

    #[test]
    fn what_is_cut_short_is_no_trouble() {
        let file = wav(10);
        for end in 0..file.len() {
            wav_milliseconds(&file[..end]);
        }
        assert_eq!(wav_milliseconds(b"RIFF\0\0\0\0WAVE"), None);
    }
}
