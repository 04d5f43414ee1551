//! The frames in what the client of a WebSocket sends, as far as their heads tell.
//!
//! tungstenite counts the bytes of a message, but not its frames, and returns only with a message: fragments without content
//! would have no limit.

/// How many fragments without content a message may have.
const MOST: u32 = 100;
/// The bit of the last frame of a message, and of a mask.
const BIT: u8 = 0x80;

/// Counts the fragments without content of the present message.
#[derive(Default)]
pub struct Fragments {
    /// What has come of a frame's head, without its mask.
    head: [u8; 10],
    filled: usize,
    /// How many bytes of the present frame are still to come.
    rest: u64,
    empty: u32,
}

impl Fragments {
    /// Takes what has come next.
    pub fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.rest > 0 {
                let count = usize::try_from(self.rest).unwrap_or(usize::MAX).min(bytes.len());
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
        if is_control {
            return;
        }
        if self.head[0] & BIT != 0 {
            self.empty = 0;
        } else if length == 0 {
            self.empty = self.empty.saturating_add(1);
        }
    }

    /// Returns `true` if the message has more of them than it may.
    pub fn are_too_many(&self) -> bool {
        self.empty > MOST
    }
}
