//! How a worker's numbers lie in its place on the board. The command, which reads them, compiles this file, too.

/// How many numbers a place has: more than there are, so that the next one moves nothing.
pub const PLACE: usize = 64;

/// How many lines were lost: of the access log, and of the error log.
pub const LINES_LOST: usize = 12;

/// Where the requests that have ended are counted by status. The first numbers are those of `Stats::numbers`.
pub const RESPONSES: usize = 16;

/// The classes of statuses; the last one is that of requests without a response.
pub const CLASSES: [&str; 6] = ["1xx", "2xx", "3xx", "4xx", "5xx", "none"];

/// Where they are counted by duration, each in the first class that is not shorter. After these is the sum, in nanoseconds.
pub const DURATIONS: usize = RESPONSES + CLASSES.len();

/// The upper bounds of the classes, in nanoseconds, but for the last class, which has none.
pub const BOUNDS: [u64; 14] = [
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    30_000_000_000,
];

/// How many classes there are.
pub const DURATION_CLASSES: usize = BOUNDS.len() + 1;

const _: () = assert!(DURATIONS + DURATION_CLASSES < PLACE);
