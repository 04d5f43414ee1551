--TEST--
PRIM-4 iterate(): limits, back-pressure, false, exceptions, cancellation, callbacks that are cancelled
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{await, iterate, spawn, suspend};

$log = new ArrayObject;
/** What was noted, in whatever order. */
function sorted(ArrayObject $log): string { $all = (array) $log; sort($all); return implode(', ', $all); }
$made = $active = $most = 0;
$numbers = function(int $count) use (&$made) { for ($i = 1; $i <= $count; $i++) { $made++; yield "k$i" => $i; } };
foreach ([0, 1, 3] as $concurrency) {
    $made = $active = $most = $sum = $ahead = $begun = $ended = 0;
    iterate($numbers(7), function(int $value, string $key) use (&$active, &$most, &$sum, &$made, &$begun, &$ended, &$ahead, $concurrency) {
        $most = max($most, ++$active);
        for ($begun++; $begun < ($concurrency ?: 7);) suspend(); // until as many run as may
        for ($i = 0; $i < $value % 3 + 1; $i++) suspend();
        $active--;
        $sum += $key === "k$value" ? $value : 1000;
        $ahead = max($ahead, $made - ++$ended);
    }, concurrency: $concurrency);
    echo "concurrency $concurrency: sum $sum, at most $most at once, ", $concurrency ? "at most $ahead ahead" : "made $made", "\n";
}
attempt('none', fn() => iterate([], fn() => print("never\n")));
attempt('no arguments wanted', fn() => iterate([1, 2], function() { echo func_num_args(), "\n"; }));
attempt('negative', fn() => iterate([1], fn() => 1, -1));
attempt('no callable', fn() => iterate([1], 'nothing'));
attempt('no iterable', fn() => iterate(1, fn() => 1));

// false: no further element is asked for, and those that run end
$log->exchangeArray([]);
iterate($numbers(9), function(int $x) use ($log) { $log[] = "begin $x"; while ($x === 1 ? !isset($log['refused']) : count($log) < 2) suspend(); $log[$x === 1 ? 'other' : 'refused'] = "end $x"; return $x !== 2; }, 2);
echo sorted($log), "\n";
$log->exchangeArray([]);
iterate([1, 2, 3], function(int $x) use ($log) { $log[] = $x; return $x ? false : true; });
echo 'all at once: ', sorted($log), "\n";

// an exception: the others are cancelled, and have ended when it is thrown
$log->exchangeArray([]);
$begun = new ArrayObject;
attempt('throws', fn() => iterate([1, 2, 3, 4], function(int $x) use ($log, $begun) {
    for ($begun[] = $x; $x === 2 && count($begun) < 3;) suspend();
    if ($x === 2) throw new LogicException("of $x");
    try {
        Async\delay(60000);
    } finally {
        suspend();
        $log[] = "$x has ended";
    }
}, 3));
echo sorted($log), "\n";
attempt('the others fail, too', fn() => iterate([1, 2], function(int $x) {
    if ($x === 1) throw new LogicException('the first');
    try { Async\delay(60000); } finally { throw new LogicException('not reported'); }
}));
$begun = new ArrayObject;
attempt('iterator throws', fn() => iterate((function() use ($begun) { yield 1; while (!count($begun)) suspend(); throw new LogicException('of the iterator'); })(), function() use ($log, $begun) {
    $begun[] = 1;
    try { Async\delay(60000); } finally { $log[] = 'cancelled'; }
}));
echo $log[count($log) - 1], "\n";

// it is cancelled itself: so are the callbacks, and it waits for them
$log->exchangeArray([]);
$begun = new ArrayObject;
$whole = spawn(fn() => iterate([1, 2, 3], function(int $x) use ($log, $begun) { $begun[] = $x; try { Async\delay(60000); } finally { suspend(); $log[] = "$x has ended"; } }, 2));
while (count($begun) < 2) suspend();
$whole->cancel();
attempt('cancelled', fn() => await($whole));
echo sorted($log), "\n";
// before it asks for an element, and once more while it waits for the callbacks
$begun = new ArrayObject;
$whole = spawn(function() use (&$whole, $begun) { iterate([1], function() use (&$whole, $begun) { $begun[] = 1; try { Async\delay(60000); } finally { $whole->cancel(); suspend(); echo "ended\n"; } }); });
while (!count($begun)) suspend();
$whole->cancel();
ob_start();
attempt('twice', fn() => await($whole));
T\alone();
$lines = explode("\n", trim(ob_get_clean()));
sort($lines);
echo implode("\n", $lines), "\n";
// a callback is cancelled from outside
attempt('a callback cancels itself', fn() => iterate([1, 2], function(int $x) { if ($x === 1) Async\currentCoroutine()->cancel(); Async\delay(60000); echo "$x goes on\n"; }));
// in a scope that is cancelled meanwhile
$scope = new Async\Scope;
$inside = $scope->spawn(fn() => iterate([1, 2, 3], fn() => Async\delay(60000), 1));
T\begun($inside);
suspend();
$scope->cancel();
attempt('scope', fn() => await($inside));
attempt('nested', function() { $sum = 0; iterate([1, 2], function($x) use (&$sum) { iterate([10, 20], function($y) use ($x, &$sum) { suspend(); $sum += $x * $y; }); }, 1); return $sum; });
attempt('ten thousand', function() { $n = 0; iterate(range(1, 10000), function() use (&$n) { suspend(); $n++; }, 100); return $n; });
?>
--EXPECTF--
concurrency 0: sum 28, at most 7 at once, made 7
concurrency 1: sum 28, at most 1 at once, at most 0 ahead
concurrency 3: sum 28, at most 3 at once, at most 2 ahead
none: null
2
2
no arguments wanted: null
negative: ValueError: Async\iterate(): Argument #3 ($concurrency) must not be negative
no callable: TypeError: Async\iterate(): Argument #2 ($callback) must be a valid callback, function "nothing" not found or invalid function name
no iterable: TypeError: Async\iterate(): Argument #1 ($iterable) must be of type Traversable|array, int given
begin 1, begin 2, end 1, end 2
all at once: 1, 2, 3
throws: LogicException: of 2
1 has ended, 3 has ended
the others fail, too: LogicException: the first
iterator throws: LogicException: of the iterator
cancelled
cancelled: Async\CancellationException: cancelled at %s:66
1 has ended, 2 has ended
ended
twice: Async\CancellationException: cancelled at %s:73
a callback cancels itself: Async\CancellationException: cancelled at %s:81
scope: Async\CancellationException: cancelled at %s:87
nested: 90
ten thousand: 10000
