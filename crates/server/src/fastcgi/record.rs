//! The records of FastCGI: those of a request, and those of its response. A connection has one request at a time, with the number 1.

use bytes::{Buf, Bytes, BytesMut};
use std::fmt;

const VERSION: u8 = 1;
const REQUEST: u16 = 1;
const HEADER: usize = 8;

const BEGIN_REQUEST: u8 = 1;
const END_REQUEST: u8 = 3;
const PARAMS: u8 = 4;
const STDIN: u8 = 5;
const STDOUT: u8 = 6;
const STDERR: u8 = 7;

/// What the server is for: the one that answers.
const RESPONDER: u8 = 1;
/// The connection stays open after the response.
const KEEP_CONNECTION: u8 = 1;

/// How much of a stream a record has: less than it could have, and a multiple of eight, so that none is padded.
const PIECE: usize = 32 << 10;

fn header(kind: u8, length: usize, to: &mut BytesMut) {
    let [high, low] = u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes();
    let [id_high, id_low] = REQUEST.to_be_bytes();
    to.extend_from_slice(&[VERSION, kind, id_high, id_low, high, low, 0, 0]);
}

/// Appends what begins a request.
pub fn begin(keeps: bool, to: &mut BytesMut) {
    header(BEGIN_REQUEST, 8, to);
    to.extend_from_slice(&[0, RESPONDER, if keeps { KEEP_CONNECTION } else { 0 }, 0, 0, 0, 0, 0]);
}

/// Appends the parameters, and their end.
pub fn params(all: &[u8], to: &mut BytesMut) {
    stream(PARAMS, all, to);
    header(PARAMS, 0, to);
}

/// Appends a piece of the body.
pub fn body(piece: &[u8], to: &mut BytesMut) {
    stream(STDIN, piece, to);
}

/// Appends the end of the body.
pub fn end_of_body(to: &mut BytesMut) {
    header(STDIN, 0, to);
}

fn stream(kind: u8, bytes: &[u8], to: &mut BytesMut) {
    for piece in bytes.chunks(PIECE) {
        header(kind, piece.len(), to);
        to.extend_from_slice(piece);
    }
}

/// Appends a name and its value to parameters.
pub fn pair(name: &[u8], value: &[u8], to: &mut Vec<u8>) {
    for length in [name.len(), value.len()] {
        match u8::try_from(length) {
            Ok(short @ ..=0x7f) => to.push(short),
            _ => to.extend_from_slice(&(u32::try_from(length).unwrap_or(u32::MAX) | 1 << 31).to_be_bytes()),
        }
    }
    to.extend_from_slice(name);
    to.extend_from_slice(value);
}

/// A record of a response.
#[derive(PartialEq, Eq, Debug)]
pub enum Record {
    /// A piece of the response.
    Output(Bytes),
    /// A piece of what is for the error log.
    Error(Bytes),
    /// The end of the request. `false`: it was refused, and has not run.
    End(bool),
}

/// It is not FastCGI.
#[derive(PartialEq, Eq, Debug)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it does not speak FastCGI")
    }
}

/// Reads records, however they are cut into pieces.
#[derive(Default)]
pub struct Decoder(BytesMut);

impl Decoder {
    /// Returns where the next bytes are to be appended. It grows by no more than a record.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.0
    }

    /// Returns `true` if nothing has come after the last record.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the next record, if all of it is there.
    ///
    /// # Errors
    /// It is none of a response to this request.
    pub fn next(&mut self) -> Result<Option<Record>, Malformed> {
        loop {
            let Some([version, kind, id_high, id_low, high, low, padding, _]) = self.0.first_chunk::<HEADER>().copied()
            else {
                return Ok(None);
            };
            let id = u16::from_be_bytes([id_high, id_low]);
            let length = usize::from(u16::from_be_bytes([high, low]));
            if version != VERSION || id > REQUEST {
                return Err(Malformed);
            }
            if self.0.len() < HEADER + length + usize::from(padding) {
                return Ok(None);
            }
            self.0.advance(HEADER);
            let content = self.0.split_to(length).freeze();
            self.0.advance(usize::from(padding));
            return Ok(Some(match (id, kind) {
                (0, _) => continue, // about the connection, and nothing was asked
                (_, STDOUT | STDERR) if content.is_empty() => continue,
                (_, STDOUT) => Record::Output(content),
                (_, STDERR) => Record::Error(content),
                (_, END_REQUEST) if content.len() >= 5 => Record::End(content[4] == 0),
                _ => return Err(Malformed),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(bytes: &[u8], cuts: &[usize]) -> Result<Vec<Record>, Malformed> {
        let (mut decoder, mut records, mut rest, mut cuts) =
            (Decoder::default(), Vec::new(), bytes, cuts.iter().cycle());
        loop {
            while let Some(record) = decoder.next()? {
                records.push(record);
            }
            if rest.is_empty() {
                return Ok(records);
            }
            let cut = cuts.next().map_or(rest.len(), |cut| *cut).clamp(1, rest.len());
            decoder.buffer().extend_from_slice(&rest[..cut]);
            rest = &rest[cut..];
        }
    }

    fn record(kind: u8, id: u16, content: &[u8], padding: u8) -> Vec<u8> {
        let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
        let [id_high, id_low] = id.to_be_bytes();
        let mut all = vec![VERSION, kind, id_high, id_low, high, low, padding, 0];
        all.extend_from_slice(content);
        all.resize(all.len() + usize::from(padding), b'p');
        all
    }

    /// Reads pairs as a server does.
    fn pairs(mut bytes: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let mut length = || match bytes[0] {
                short @ ..=0x7f => {
                    bytes = &bytes[1..];
                    usize::from(short)
                }
                _ => {
                    let long = u32::from_be_bytes(bytes[..4].try_into().unwrap()) & !(1 << 31);
                    bytes = &bytes[4..];
                    long as usize
                }
            };
            let (name, value) = (length(), length());
            all.push((bytes[..name].to_vec(), bytes[name..name + value].to_vec()));
            bytes = &bytes[name + value..];
        }
        all
    }

    proptest! {
        #[test]
        fn records_are_read_however_they_are_cut(
            sent in proptest::collection::vec((prop_oneof![Just(STDOUT), Just(STDERR)], proptest::collection::vec(any::<u8>(), 0..300), any::<u8>()), 0..20),
            cuts in proptest::collection::vec(1_usize..50, 1..20),
        ) {
            let mut bytes: Vec<u8> = sent.iter().flat_map(|(kind, content, padding)| record(*kind, 1, content, *padding)).collect();
            bytes.extend(record(END_REQUEST, 1, &[0; 8], 0));
            let mut expected: Vec<_> = sent.into_iter().filter(|(_, content, _)| !content.is_empty()).map(|(kind, content, _)| {
                if kind == STDOUT { Record::Output(content.into()) } else { Record::Error(content.into()) }
            }).collect();
            expected.push(Record::End(true));
            prop_assert_eq!(decoded(&bytes, &cuts), Ok(expected));
        }

        #[test]
        fn whatever_comes_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2000), cuts in proptest::collection::vec(1_usize..50, 1..20)) {
            prop_assert_eq!(decoded(&bytes, &cuts), decoded(&bytes, &[bytes.len().max(1)]));
        }

        #[test]
        fn what_is_nearly_right_is_read_or_refused(kind in 0_u8..13, id in 0_u16..3, content in proptest::collection::vec(any::<u8>(), 0..12), cut in 1_usize..30) {
            let bytes = record(kind, id, &content, 3);
            let read = decoded(&bytes, &[cut]);
            let is_known = id == 0 || id == 1 && (matches!(kind, STDOUT | STDERR) || kind == END_REQUEST && content.len() >= 5);
            prop_assert_eq!(read.is_ok(), is_known);
        }

        #[test]
        fn parameters_arrive(all in proptest::collection::vec((proptest::collection::vec(any::<u8>(), 0..200), proptest::collection::vec(any::<u8>(), 0..70_000)), 0..4)) {
            let (mut text, mut sent) = (Vec::new(), BytesMut::new());
            all.iter().for_each(|(name, value)| pair(name, value, &mut text));
            params(&text, &mut sent);
            // Records of this kind, of which the last one alone is empty.
            let (mut rest, mut joined, mut has_ended) = (&sent[..], Vec::new(), false);
            while !rest.is_empty() {
                let length = usize::from(u16::from_be_bytes([rest[4], rest[5]]));
                prop_assert_eq!((rest[0], rest[1], has_ended), (VERSION, PARAMS, false));
                has_ended = length == 0;
                joined.extend_from_slice(&rest[HEADER..HEADER + length]);
                rest = &rest[HEADER + length..];
            }
            prop_assert!(has_ended);
            prop_assert_eq!(pairs(&joined), all);
        }
    }

    #[test]
    fn a_refused_request_has_not_run() {
        assert_eq!(decoded(&record(END_REQUEST, 1, &[0, 0, 0, 0, 2, 0, 0, 0], 0), &[99]), Ok(vec![Record::End(false)]));
    }
}
