//! Playing time of an MP3 file, from its first frames.

use super::image::big_endian;

/// Kilobits a second, by index; of MPEG 1 and of the versions after it.
const BIT_RATES: [[u64; 15]; 2] = [
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];

/// Samples a second of MPEG 1, by index.
const SAMPLE_RATES: [u64; 3] = [44_100, 48_000, 32_000];

/// Header of a frame.
struct Frame {
    kilobits: u64,
    sample_rate: u64,
    samples: u64,
    bytes: usize,
}

impl Frame {
    fn read(bytes: &[u8]) -> Option<Self> {
        let [0xff, kind, rates, _, ..] = *bytes else { return None };
        let (version, layer) = (kind >> 3 & 3, kind >> 1 & 3);
        if kind & 0xe0 != 0xe0 || version == 1 || layer != 1 {
            return None;
        }
        let later = usize::from(version != 3);
        let kilobits = *BIT_RATES[later].get(usize::from(rates >> 4)).filter(|rate| **rate > 0)?;
        let slower = [4, 1, 2, 1][usize::from(version)];
        let sample_rate = SAMPLE_RATES.get(usize::from(rates >> 2 & 3))? / slower;
        let samples = if later == 0 { 1_152 } else { 576 };
        let bytes = samples / 8 * kilobits * 1_000 / sample_rate + u64::from(rates >> 1 & 1);
        Some(Self { kilobits, sample_rate, samples, bytes: usize::try_from(bytes).ok()? })
    }
}

/// Playing time of the file: by the number of frames that its first one gives, or by the rate of the
/// first two if that is the same. `None` if it cannot be told.
pub(super) fn mp3_milliseconds(file: &[u8]) -> Option<u64> {
    let sound = without_tag(file);
    let frame = Frame::read(sound)?;
    if let Some(frames) = frame_count(sound.get(..frame.bytes)?) {
        return Some((frames * frame.samples * 1_000).div_ceil(frame.sample_rate));
    }
    let next = Frame::read(sound.get(frame.bytes..)?)?;
    let bits = u64::try_from(sound.len()).ok()?.saturating_mul(8);
    (next.kilobits == frame.kilobits).then(|| bits.div_ceil(frame.kilobits))
}

/// The number of frames in a first frame that holds nothing but that.
fn frame_count(frame: &[u8]) -> Option<u64> {
    /// Where it is at the latest.
    const LATEST: usize = 48;
    let head = &frame[..frame.len().min(LATEST)];
    let names = |window: &[u8]| window == b"Xing" || window == b"Info";
    let fields = &frame[head.windows(4).position(names)? + 4..];
    let has_frames = fields.get(3)? & 1 == 1;
    fields.get(4..8).filter(|_| has_frames).map(|count| u64::from(big_endian(count)))
}

/// The file behind its tag, if it has one.
fn without_tag(file: &[u8]) -> &[u8] {
    let Some(size) = file.strip_prefix(b"ID3").and_then(|tag| tag.get(3..7)) else { return file };
    let size = size.iter().fold(0, |size, byte| size << 7 | usize::from(byte & 0x7f));
    file.get(size + 10..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MPEG 1, layer 3, 128 kbit/s, 44,100 a second: 417 bytes.
    fn frame(body: &[u8]) -> Vec<u8> {
        let mut frame = [b"\xff\xfb\x90\x00".as_slice(), body].concat();
        frame.resize(417, 0);
        frame
    }

    #[test]
    fn a_steady_rate_tells_how_long_it_plays() {
        let file = frame(b"").repeat(100);
        assert_eq!(mp3_milliseconds(&file), Some(2_607));
        let tagged = [b"ID3\x04\0\0\0\0\x01\x02".as_slice(), &[0; 130], &file].concat();
        assert_eq!(mp3_milliseconds(&tagged), mp3_milliseconds(&file));
    }

    #[test]
    fn a_first_frame_that_counts_the_others_is_believed() {
        let info = [[0; 32].as_slice(), b"Xing\0\0\0\x01\0\0\x03\xe8"].concat();
        let file = [frame(&info), frame(b"")].concat();
        assert_eq!(mp3_milliseconds(&file), Some(26_123));
    }

    #[test]
    fn what_is_no_mp3_is_not_guessed_at() {
        for file in
            [b"".as_slice(), b"ID3", b"ID3\x04\0\0\x7f\x7f\x7f\x7f", b"\xff\xfb\x90", b"RIFF"]
        {
            assert_eq!(mp3_milliseconds(file), None);
        }
        assert_eq!(mp3_milliseconds(&frame(b"")), None);
    }
}
