<?php
// expect: FAIL .* never blocked: it had ended before it could be cancelled; await threw nothing; the cancelled call returned to its caller
// expect: FAIL .* swallowed: await threw nothing; the cancelled call returned
// expect: FAIL .* late: the cancellation took \d.* s, more than 0\.2
// expect: FAIL .* leaky: descriptors left open: \{"\d+":"socket:
// expect: FAIL .* broken: afterwards "other" instead of "fine"
// expect: FAIL .* ended before: it was not cancelled
// Cancellations that go wrong are noticed.
namespace Matrix;

use Async;

cancelled('never blocked', fn() => 1);
cancelled('swallowed', function (): void {
    try {
        Async\delay(5000);
    } catch (Async\CancellationException) {
    }
});
cancelled('late', function (): void {
    try {
        Async\delay(5000);
    } finally {
        \usleep(400_000);
    }
}, within: 0.2);
cancelled('leaky', function (): void {
    static $left;
    $left = \stream_socket_server('tcp://127.0.0.1:0');
    Async\delay(5000);
});
cancelled('broken', function (): void {
    $GLOBALS['broken'] = true;
    Async\delay(5000);
}, fn() => isset($GLOBALS['broken']) ? 'other' : 'fine');
after_cancellation('ended before', fn() => null, fn() => 1, fn() => 'right');
