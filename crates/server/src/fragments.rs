//! The heads of the frames that the client of a WebSocket sends.
//!
//! tungstenite counts the bytes of a message, but not its frames, and returns only with a message: fragments without content
//! would have no limit. It answers a close with a code that must not be sent as the protocol demands, but returns it as one with
//! code 1002, which a client may send.

/// How many fragments without content a message may have.
const MOST: u32 = 100;
/// The bit of the last frame of a message, and of a mask.
const BIT: u8 = 0x80;

/// Counts the fragments without content of the present message.
#[derive(Default)]
pub struct Fragments {
    /// The part of a frame's head that was received, without its mask.
    head: [u8; 10],
    filled: usize,
    /// How many bytes of the present frame are still to come.
    rest: u64,
    empty: u32,
    /// A message, which may have ended since, has had more of them than it may.
    are_too_many: bool,
    /// The part of the mask and the code of a close that was received: [`CLOSE`] is all of it.
    close: [u8; 6],
    close_filled: usize,
    is_close: bool,
}

/// The length of a mask and a code.
const CLOSE: usize = 6;

impl Fragments {
    /// Takes the next bytes.
    pub fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.rest > 0 {
                let count = usize::try_from(self.rest).unwrap_or(usize::MAX).min(bytes.len());
                if self.is_close {
                    self.closes(&bytes[..count]);
                }
                self.rest -= count as u64;
                bytes = &bytes[count..];
                continue;
            }
            self.head[self.filled] = bytes[0];
            self.filled += 1;
            bytes = &bytes[1..];
            if self.filled >= 2 && self.filled == self.head_length() {
                self.filled = 0;
                self.begins();
            }
        }
    }

    fn head_length(&self) -> usize {
        match self.head[1] & !BIT {
            127 => 10,
            126 => 4,
            _ => 2,
        }
    }

    /// The head of a frame is complete.
    fn begins(&mut self) {
        let length = match self.head[1] & !BIT {
            127 => u64::from_be_bytes(self.head[2..].try_into().unwrap_or_default()),
            126 => u64::from(u16::from_be_bytes([self.head[2], self.head[3]])),
            length => u64::from(length),
        };
        let mask = if self.head[1] & BIT == 0 { 0 } else { 4 };
        self.rest = length.saturating_add(mask);
        let is_control = self.head[0] & 8 != 0;
        self.is_close = self.head[0] & 15 == 8 && length >= 2 && self.close_filled < CLOSE;
        if is_control {
            return;
        }
        if self.head[0] & BIT != 0 {
            self.empty = 0;
        } else if length == 0 {
            self.empty = self.empty.saturating_add(1);
            self.are_too_many |= self.empty > MOST;
        }
    }

    fn closes(&mut self, bytes: &[u8]) {
        let count = bytes.len().min(CLOSE - self.close_filled);
        self.close[self.close_filled..self.close_filled + count].copy_from_slice(&bytes[..count]);
        self.close_filled += count;
    }

    /// Returns the code of the first close frame.
    pub fn close_code(&self) -> Option<u16> {
        let [a, b, _, _, high, low] = self.close;
        (self.close_filled == CLOSE).then(|| u16::from_be_bytes([high ^ a, low ^ b]))
    }

    /// Returns `true` if a message has had more of them than it may.
    pub fn are_too_many(&self) -> bool {
        self.are_too_many
    }
}
