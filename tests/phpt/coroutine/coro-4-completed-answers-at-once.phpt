--TEST--
CORO-4 awaiting what is complete gives way to nobody, be it a result, a failure or a cancellation
--FILE--
<?php
use function Async\{await, delay, spawn};

require __DIR__ . '/kit.inc';

$done = spawn(fn() => 'result');
$failed = spawn(function() { throw new RuntimeException('failure'); });
$cancelled = spawn(fn() => delay(600_000));
await($done);
$first = T\failure($failed);
$cancelled->cancel(new Async\CancellationException('reason'));
$reason = T\failure($cancelled);

$otherRan = false;
$other = spawn(function() use (&$otherRan) { $otherRan = true; });
for ($i = 0; $i < 100; $i++) {
    $results[await($done)] = true;
    $same[T\failure($failed) === $first ? 'same' : 'another'] = true;
    $same[T\failure($cancelled) === $reason ? 'same' : 'another'] = true;
    // a token that is complete as well does not win
    $results[await($done, $done)] = true;
}
var_dump($otherRan, array_keys($results), array_keys($same), $reason->getMessage());
T\begun($other);
var_dump($otherRan);
?>
--EXPECT--
bool(false)
array(1) {
  [0]=>
  string(6) "result"
}
array(1) {
  [0]=>
  string(4) "same"
}
string(6) "reason"
bool(true)
