<?php
// expect: ok .* before
// expect: FAIL .* after: did not run to its end, the process ended by SIGSEGV
// expect: FAIL +dies-between: after its check 'before' the process ended by SIGSEGV
// A crash between two checks is noticed.
namespace Matrix;

matrix('before', fn(int $i) => $i, evidence: 'none');
is_async() && \posix_kill(\getmypid(), SIGSEGV);
matrix('after', fn(int $i) => $i, evidence: 'none');
