<?php
/**
 * Look-ups of what is in `/etc/hosts`: CPU ns for each, of all threads.
 * $address 0: gethostbyname('localhost'), 1: gethostbyaddr('127.0.0.1').
 */
require __DIR__ . '/../lib/suite.php';

function lookUp(int $n, int $address): float
{
    [$ask, $of, $expected] = $address ? ['gethostbyaddr', '127.0.0.1', 'localhost'] : ['gethostbyname', 'localhost', '127.0.0.1'];
    if ($ask($of) !== $expected) {
        exit("skipped: /etc/hosts has no localhost\n");
    }
    $start = cpu();
    for ($i = 0; $i < $n; $i++) {
        $answer = $ask($of);
    }
    $time = cpu() - $start;
    check($answer === $expected, "$of is $answer");
    return $time / $n;
}

bench('ns',
    spindle: static fn(int $n, int $address = 0): float => Async\await(Async\spawn('lookUp', $n, $address)),
    plain: lookUp(...),
    warm: 100,
);
