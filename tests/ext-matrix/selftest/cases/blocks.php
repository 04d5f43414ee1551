<?php
// expect: FAIL .* waits: order: only 1 of 4 .*; ticks: \d .*; stall: 
// expect: FAIL .* ticks: ticks: .*; stall: nothing else ran for 
// expect: FAIL .* switches: switch: each one ended before another started
// expect: FAIL .* one: ticks: 
// What blocks is noticed.
namespace Matrix;

matrix('waits', fn() => \usleep(ms(200) * 1000), n: 4, ms: 200);
matrix('ticks', fn() => \usleep(ms(200) * 1000), n: 4, ms: 200, evidence: 'ticks');
matrix('switches', fn(int $i) => \gethostbyname("127.0.0.$i"), evidence: 'switch');
scenario('one', fn() => \usleep(100_000), waits: 25);
