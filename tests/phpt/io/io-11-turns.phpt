--TEST--
IO-11 turns at writing: who waits for one is cancelled, gets it in order of arrival, and gets it though one writes without end
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

// Two streams of one pipe, which is full: they are no handles of each other.
T\work_in();
posix_mkfifo('pipe', 0600);
$end = fopen('pipe', 'r+');
stream_set_blocking($end, false); // else it waits for all that is asked for
$some = function () use ($end): string {
    while (($data = fread($end, 50_000)) === '') suspend();
    return $data;
};
$open = fn() => fopen('pipe', 'w');
$letters = function (string $text): string {
    for ($seen = ''; $text !== ''; $text = substr($text, strspn($text, $text[0]))) $seen .= $text[0];
    return $seen;
};
$big = fn(string $letter) => str_repeat($letter, 100_000);

// In order, but for the one that is cancelled meanwhile.
$jobs = [];
foreach (['a', 'b', 'c', 'd'] as $letter) {
    $jobs[$letter] = spawn(fn() => fwrite($open(), $big($letter)));
    T\parked($jobs[$letter]);
}
$jobs['b']->cancel();
$seen = '';
while (strlen($seen) < 300_000) $seen .= $some();
echo $letters($seen), ' ', strlen($seen), "\n";
echo 'cancelled: ', get_class(T\failure($jobs['b'])), "\n";
foreach ($jobs as $letter => $job) $letter === 'b' || print("$letter: " . await($job) . "\n");

// The one that has the turn is cancelled: what it has written stays, and the next one begins.
$first = spawn(fn() => fwrite($open(), $big('x')));
T\parked($first);
$second = spawn(fn() => fwrite($open(), $big('y')));
T\parked($second);
$first->cancel();
$seen = '';
while (substr_count($seen, 'y') < 100_000) $seen .= $some();
echo $letters($seen), ' ', await($second), "\n";

// Another one gets its turn at last, though this one never waits for anything else.
$told = false;
$endless = spawn(function () use ($open, &$told) {
    for ($stream = $open(); !$told;) fwrite($stream, str_repeat('.', 5_000));
});
T\parked($endless);
$other = spawn(function () use ($open, &$told) {
    fwrite($open(), '!');
    $told = true;
});
for ($seen = ''; !str_contains($seen, '!');) $seen = $some();
await($other);
while (!$endless->isCompleted()) { fread($end, 50_000); suspend(); }
fread($end, 50_000);
echo "all were heard\n";

// In the child of a fork nobody else has the turn.
$writer = spawn(fn() => fwrite($open(), $big('z')));
T\parked($writer);
if (($child = pcntl_fork()) === 0) {
    $own = spawn(fn() => fwrite($open(), 'heard')); // the parent's writer goes on beside it
    while (!str_contains($some(), 'heard')) {
    }
    exit(await($own) === 5 ? 0 : 1);
}
pcntl_waitpid($child, $status);
echo 'the child: ', pcntl_wexitstatus($status), "\n";
while (!$writer->isCompleted()) { fread($end, 50_000); suspend(); }
echo await($writer), "\n";
?>
--EXPECT--
acd 300000
cancelled: Async\CancellationException
a: 100000
c: 100000
d: 100000
xy 100000
all were heard
the child: 0
100000
