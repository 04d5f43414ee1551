<?php
// expect: ok .* before
// expect: FAIL .* during: did not run to its end, the process ended by SIGSEGV
// expect: FAIL .* after: did not run to its end
// A crash is noticed, and what came before it counts.
namespace Matrix;

matrix('before', fn(int $i) => $i, evidence: 'none');
matrix('during', fn() => is_async() && \posix_kill(\getmypid(), SIGSEGV), evidence: 'none');
matrix('after', fn(int $i) => $i, evidence: 'none');
