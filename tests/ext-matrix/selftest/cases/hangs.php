<?php
// limit: 10
// expect: FAIL .* for ever: did not run to its end, the process ended by SIGKILL \(time limit\?\)
namespace Matrix;

matrix('for ever', fn() => is_async() && \sleep(100), n: 1, evidence: 'none');
