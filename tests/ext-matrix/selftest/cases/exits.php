<?php
// expect: FAIL .* exits: did not run to its end, the process ended without it
// Leaving quietly is noticed.
namespace Matrix;

matrix('exits', fn() => is_async() && exit(0), n: 1, evidence: 'none');
