--TEST--
APP-4 code that C code has called gives way to no one when it computes, nor does a file that is being loaded
--INI--
async.time_slice_ms=2
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

T\work_in();
$count = 0;
$counts = spawn(function() use (&$count) {
    while (true) {
        delay(1);
        $count++;
    }
});
suspend();

/** Computes for many slices. Returns the sum of what other coroutines have done meanwhile. */
function compute(): int
{
    global $count, $others;
    $before = $count;
    for ($end = hrtime(true) + 20_000_000; hrtime(true) < $end; );
    return $others = $count - $before;
}

final class Works implements IteratorAggregate, ArrayAccess, Countable, JsonSerializable
{
    public function __destruct() { compute(); }
    public function __toString(): string { return (string) compute(); }
    public function __get(string $name): int { return compute(); }
    public function getIterator(): Iterator { compute(); return new EmptyIterator; }
    public function offsetGet(mixed $key): mixed { return compute(); }
    public function offsetSet(mixed $key, mixed $value): void { compute(); }
    public function offsetExists(mixed $key): bool { return (bool) compute(); }
    public function offsetUnset(mixed $key): void { compute(); }
    public function count(): int { return compute(); }
    public function jsonSerialize(): mixed { return compute(); }
}

function generate(): Generator
{
    yield compute();
}

file_put_contents('loaded.php', '<?php compute();');
$works = new Works;
$failures = array_fill(0, 30_000, $failure = new Exception(str_repeat('text', 100)));
$texts = array_fill(0, 30_000, (string) $failure);
$cases = [
    'a callback' => fn() => array_map(compute(...), [1]),
    'a sort' => function () { $list = [2, 1]; usort($list, fn($a, $b) => compute() ?: 1); },
    'an output callback' => function () { ob_start(fn($text) => $text . compute()); echo 'text'; ob_end_clean(); },
    'a destructor' => function () { $temporary = new Works; unset($temporary); },
    'a destructor that the collector runs' => function () { $circle = new Works; $circle = [$circle]; $circle[] = &$circle; unset($circle); gc_collect_cycles(); },
    'a string' => fn() => "$works",
    'a comparison' => fn() => $works == '0',
    'a property' => fn() => $works->missing,
    'an element' => fn() => $works['key'],
    'an iterator' => fn() => iterator_to_array($works),
    'a count' => fn() => count($works),
    'json' => fn() => json_encode($works),
    'a generator' => fn() => iterator_to_array(generate()),
    'a loop over a generator' => function () { foreach (generate() as $value); },
    'an autoloader' => function () { spl_autoload_register($load = fn() => compute()); class_exists('Missing'); spl_autoload_unregister($load); },
    'an error handler' => function () { set_error_handler(fn() => (bool) compute() || true); trigger_error('an error'); restore_error_handler(); },
    'a tick' => function () { declare(ticks=1) { register_tick_function('compute'); $a = 1; unregister_tick_function('compute'); } },
    'a comparison that calls C code' => fn() => $failures === $texts || $failures == $texts,
    'a fiber' => fn() => (new Fiber(compute(...)))->start(),
    'a file' => fn() => require_once 'loaded.php',
];
foreach ($cases as $name => $case) {
    $others = null;
    $before = $count;
    await(spawn($case));
    $others ??= (int) ($count - $before > 1); // nothing else than the turns before and after
    echo $others === 0 ? '' : "$name: " . var_export($others, true) . " others have run\n";
}
$counts->cancel();
$works = null;
echo count($cases), " cases\n";
?>
--EXPECT--
20 cases
