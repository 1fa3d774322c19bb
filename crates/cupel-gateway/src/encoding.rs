//! Compressed bodies of requests, decoded within a limit.

use std::io::Read;

use bytes::Bytes;
use hyper::header::{self, HeaderMap};

use crate::unfit::Unfit;

/// A body that a request came with, in a form that can be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// It was not compressed.
    Plain,
    /// It was, and this is what it holds.
    Unpacked(Bytes),
}

/// Decodes a body by its `Content-Encoding`. What it holds may have `most` bytes: a few bytes can hold any
/// number of them.
pub(crate) fn decode(headers: &HeaderMap, body: &Bytes, most: usize) -> Result<Decoded, Unfit> {
    let mut named = headers.get_all(header::CONTENT_ENCODING).iter();
    let name = match (named.next(), named.next()) {
        (None, _) => return Ok(Decoded::Plain),
        (Some(name), None) => name.to_str().unwrap_or_default().trim().to_ascii_lowercase(),
        (Some(_), Some(_)) => return Err(unknown("is compressed more than once")),
    };
    let unpacked = match name.as_str() {
        "identity" | "" => return Ok(Decoded::Plain),
        "gzip" | "x-gzip" => read(flate2::read::MultiGzDecoder::new(body.as_ref()), most),
        "deflate" => read(flate2::read::ZlibDecoder::new(body.as_ref()), most),
        "zstd" => zstd::stream::read::Decoder::new(body.as_ref())
            .map_err(|_| unknown("is no zstd"))
            .and_then(|decoder| read(decoder, most)),
        _ => Err(unknown(
            "is compressed in a way that is not understood; gzip, deflate and zstd are",
        )),
    };
    unpacked.map(Decoded::Unpacked)
}

fn read(decoder: impl Read, most: usize) -> Result<Bytes, Unfit> {
    let mut unpacked = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    match decoder.take(limit).read_to_end(&mut unpacked) {
        Err(_) => Err(unknown("is not what its Content-Encoding says")),
        Ok(_) if unpacked.len() > most => {
            let text = format!("the body holds more than {most} bytes; see server.body_limit");
            Err(Unfit::new("body-too-large", text))
        }
        Ok(_) => Ok(unpacked.into()),
    }
}

fn unknown(what: &str) -> Unfit {
    Unfit::new("encoded-body", format!("the body {what}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const TEXT: &[u8] = b"many words, many words, many words";

    fn decoded(name: &str, body: Vec<u8>, most: usize) -> Result<Decoded, String> {
        let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, name.parse().unwrap())]);
        decode(&headers, &body.into(), most).map_err(|unfit| unfit.code)
    }

    fn gzip() -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(TEXT).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn what_is_compressed_is_read_within_a_limit() {
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(TEXT).unwrap();
        let zstd = zstd::stream::encode_all(TEXT, 1).unwrap();
        for (name, body) in [
            ("gzip", gzip()),
            ("X-GZIP ", gzip()),
            ("deflate", zlib.finish().unwrap()),
            ("zstd", zstd),
        ] {
            let unpacked = Ok(Decoded::Unpacked(Bytes::from_static(TEXT)));
            assert_eq!(decoded(name, body.clone(), TEXT.len()), unpacked, "{name}");
            let large = Err("body-too-large".to_owned());
            assert_eq!(decoded(name, body.clone(), TEXT.len() - 1), large, "{name}");
            let cut = body[..body.len() / 2].to_vec();
            assert_eq!(decoded(name, cut, 1_000), Err("encoded-body".to_owned()), "{name}");
        }
    }

    #[test]
    fn what_is_plain_stays_so_and_what_is_not_understood_is_said() {
        assert_eq!(decode(&HeaderMap::new(), &Bytes::new(), 1).unwrap(), Decoded::Plain);
        assert_eq!(decoded("identity", TEXT.to_vec(), 1), Ok(Decoded::Plain));
        for name in ["br", "gzip, zstd", "gzip2"] {
            assert_eq!(decoded(name, gzip(), 1_000), Err("encoded-body".to_owned()), "{name}");
        }
        let mut twice = HeaderMap::new();
        twice.append(header::CONTENT_ENCODING, "gzip".parse().unwrap());
        twice.append(header::CONTENT_ENCODING, "gzip".parse().unwrap());
        assert_eq!(decode(&twice, &gzip().into(), 100).unwrap_err().code, "encoded-body");
    }
}
