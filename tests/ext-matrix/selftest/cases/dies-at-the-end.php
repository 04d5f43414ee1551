<?php
// expect: ok .* all is well
// expect: FAIL .* after its last check the process ended with status 3
namespace Matrix;

matrix('all is well', fn(int $i) => $i, evidence: 'none');
\register_shutdown_function(fn() => is_async() && exit(3));
