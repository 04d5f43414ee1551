<?php
// expect: FAIL .* during: did not run to its end on stock PHP, the process ended by SIGSEGV
// expect: FAIL .* during: stock PHP has no such check
// What stock PHP cannot answer is no answer.
namespace Matrix;

matrix('during', fn() => is_async() || \posix_kill(\getmypid(), SIGSEGV), evidence: 'none');
