//! ZIP archives, as far as logs are in them: Inspect's `.eval` is one of JSON files.

use std::io::{self, Read, Seek, SeekFrom};

use super::LARGEST_ROW;

/// A file in an archive.
pub(super) struct Member {
    pub(super) name: String,
    method: u16,
    packed: u64,
    size: u64,
    offset: u64,
}

/// The end of the list of members is within so many bytes of the end of the file.
const TAIL: u64 = 66_000;

/// The members of an archive, in its order.
pub(super) fn members(file: &mut (impl Read + Seek)) -> io::Result<Vec<Member>> {
    let length = file.seek(SeekFrom::End(0))?;
    let tail = length.min(TAIL);
    file.seek(SeekFrom::Start(length - tail))?;
    let mut end = Vec::new();
    file.take(tail).read_to_end(&mut end)?;
    let at = end.windows(4).rposition(|bytes| bytes == b"PK\x05\x06").ok_or_else(damaged)?;
    let mut count = u64::from(number16(&end, at + 10)?);
    let mut offset = u64::from(number32(&end, at + 16)?);
    // Archives of more than 4 GB, or of more than 65,535 members, say so in a record before it.
    if let Some(large) = end[..at].windows(4).rposition(|bytes| bytes == b"PK\x06\x06") {
        (count, offset) = (number64(&end, large + 32)?, number64(&end, large + 48)?);
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut list = Vec::new();
    file.take(length.saturating_sub(offset)).read_to_end(&mut list)?;
    let mut members = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        if list.get(at..at + 4) != Some(b"PK\x01\x02") {
            return Err(damaged());
        }
        let [name, extra, comment] =
            [28, 30, 32].map(|place| number16(&list, at + place).map(usize::from));
        let (name, extra, comment) = (name?, extra?, comment?);
        let own = list.get(at + 46..at + 46 + name).ok_or_else(damaged)?;
        let mut member = Member {
            name: String::from_utf8_lossy(own).into_owned(),
            method: number16(&list, at + 10)?,
            packed: number32(&list, at + 20)?.into(),
            size: number32(&list, at + 24)?.into(),
            offset: number32(&list, at + 42)?.into(),
        };
        let beside = list.get(at + 46 + name..at + 46 + name + extra).ok_or_else(damaged)?;
        member.take_large(beside)?;
        members.push(member);
        at += 46 + name + extra + comment;
    }
    Ok(members)
}

impl Member {
    /// Numbers that do not fit into 32 bits stand in a field of their own.
    fn take_large(&mut self, extra: &[u8]) -> io::Result<()> {
        let mut at = 0;
        while at + 4 <= extra.len() {
            let (kind, length) = (number16(extra, at)?, usize::from(number16(extra, at + 2)?));
            if kind == 1 {
                let mut place = at + 4;
                for number in [&mut self.size, &mut self.packed, &mut self.offset] {
                    if *number == u64::from(u32::MAX) {
                        *number = number64(extra, place)?;
                        place += 8;
                    }
                }
            }
            at += 4 + length;
        }
        Ok(())
    }

    /// Reads the content of the archive.
    pub(super) fn read(&self, file: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
        if self.size > LARGEST_ROW as u64 {
            let rule = format!("{} is larger than {} MB", self.name, LARGEST_ROW >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, rule));
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut head = [0; 30];
        file.read_exact(&mut head)?;
        let behind = i64::from(number16(&head, 26)?) + i64::from(number16(&head, 28)?);
        file.seek(SeekFrom::Current(behind))?;
        let packed = file.take(self.packed);
        // What is unpacked is no more than it says.
        let most = self.size + 1;
        let mut bytes = Vec::new();
        match self.method {
            0 => packed.take(most).read_to_end(&mut bytes)?,
            8 => flate2::read::DeflateDecoder::new(packed).take(most).read_to_end(&mut bytes)?,
            93 => zstd::Decoder::new(packed)?.take(most).read_to_end(&mut bytes)?,
            other => {
                let rule = format!("{} is packed in a way that is not known ({other})", self.name);
                return Err(io::Error::new(io::ErrorKind::Unsupported, rule));
            }
        };
        if bytes.len() as u64 == self.size { Ok(bytes) } else { Err(damaged()) }
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the archive is damaged; fetch or write it again")
}

fn number16(bytes: &[u8], at: usize) -> io::Result<u16> {
    let bytes = bytes.get(at..at + 2).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u16::from_le_bytes).ok_or_else(damaged)
}

fn number32(bytes: &[u8], at: usize) -> io::Result<u32> {
    let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u32::from_le_bytes).ok_or_else(damaged)
}

fn number64(bytes: &[u8], at: usize) -> io::Result<u64> {
    let bytes = bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u64::from_le_bytes).ok_or_else(damaged)
}
