<?php
// expect: FAIL .* a value: answers\[3\]\[word\] is "async3", stock PHP answers "sync3"
// expect: FAIL .* a type: answers\[0\] is 1\.0, stock PHP answers 1
// expect: FAIL .* a warning: warnings\[0\] is not in the stock answer
// expect: FAIL .* an exception: threw RuntimeException: only here at answers\.php:\d+
// expect: FAIL .* on stock PHP: on stock PHP: threw LogicException: 
// Other answers than stock PHP's are noticed.
namespace Matrix;

matrix('a value', fn(int $i) => ['word' => ($i === 3 && is_async() ? 'async' : 'sync') . $i], n: 5, evidence: 'none');
matrix('a type', fn() => is_async() ? 1.0 : 1, n: 1, evidence: 'none');
matrix('a warning', fn() => is_async() && \trigger_error('only here') && false, n: 1, evidence: 'none');
matrix('an exception', fn() => is_async() ? throw new \RuntimeException('only here') : 1, n: 1, evidence: 'none');
matrix('on stock PHP', fn() => is_async() ? 1 : throw new \LogicException('wrong case'), n: 1, evidence: 'none');
