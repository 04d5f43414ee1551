--TEST--
PRIM-4 Interval: ticks keep to the time of its beginning; those that are missed are left out
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Interval;
use function Async\{await, spawn, suspend};

const MS = 20;
// The tick k never comes before k periods have passed, and its number is that of the period which has just begun.
$start = hrtime(true);
$ticks = [];
$early = $behind = false;
foreach (new Interval(ms: MS) as $key => $tick) {
    $begun ??= hrtime(true); // not before the interval
    $ticks[] = $tick;
    $early = $early || T\ms($start) < $tick * MS - 0.1;
    if ($key !== $tick) echo "key and tick differ\n";
    if (count($ticks) === 3) {
        $stop = T\ms($start) + 3.5 * MS;
        while (T\ms($start) < $stop); // computes over several ticks
        $passed = intdiv((int) T\ms($begun), MS);
    }
    if (count($ticks) === 4) $behind = $tick <= $passed;
    if (count($ticks) === 6) break;
}
T\check('begins with 0, at once', $ticks[0] === 0);
T\check('never early', !$early, $ticks);
T\check('missed ones are left out', !$behind && $ticks[3] - $ticks[2] >= 3, $ticks);
$sorted = array_unique($ticks);
sort($sorted);
T\check('each number once, in order', $sorted === $ticks, $ticks);

$i = new Interval(1);
attempt('valid', fn() => [$i->valid(), $i->key(), $i->current()]);
attempt('next without rewind', function() use ($i) { $i->next(); return $i->key() >= 1; });
attempt('rewind begins again', function() use ($i) { $i->rewind(); return $i->key(); });
attempt('zero', fn() => new Interval(0));
attempt('negative', fn() => new Interval(-5));
attempt('nothing', fn() => new Interval);
$waiting = spawn(function() { foreach (new Interval(PHP_INT_MAX) as $tick) echo "tick $tick\n"; });
T\begun($waiting);
suspend();
$waiting->cancel();
attempt('cancelled', fn() => await($waiting));
attempt('others run meanwhile', function() { $n = 0; $other = spawn(function() use (&$n) { while (true) { $n++; suspend(); } }); foreach (new Interval(2) as $tick) if ($tick > 2) break; $other->cancel(); return $n > 1; });
attempt('of a generator', fn() => iterator_to_array(new LimitIterator(new IteratorIterator(new Interval(1)), 0, 2), false) >= [0, 1]);
?>
--EXPECTF--
begins with 0, at once: yes
never early: yes
missed ones are left out: yes
each number once, in order: yes
valid: [true,0,0]
next without rewind: true
rewind begins again: 0
zero: ValueError: Async\Interval::__construct(): Argument #1 ($ms) must be at least 1
negative: ValueError: Async\Interval::__construct(): Argument #1 ($ms) must be at least 1
nothing: ArgumentCountError: Async\Interval::__construct() expects exactly 1 argument, 0 given
tick 0
cancelled: Async\CancellationException: cancelled at %s:41
others run meanwhile: true
of a generator: true
