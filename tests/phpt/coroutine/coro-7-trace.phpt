--TEST--
CORO-7 getTrace() shows the frames of that coroutine alone, wherever it is
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

function names(array $trace): string
{
    return implode(' < ', array_map(fn($f) => ($f['class'] ?? '') . ($f['type'] ?? '') . $f['function'], $trace));
}

class Service
{
    public function work(): void { array_map([$this, 'item'], [1]); }
    public function item(): void { usleep(50_000); }
    public static function backtrace(): array { return debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS); }
}

function ofMain(Closure $f) { return $f(); }

ofMain(function() {
    $c = spawn([new Service, 'work']);
    echo '[', names($c->getTrace()), "]\n";
    suspend();
    T\until(fn() => str_contains(names($c->getTrace()), 'usleep'));
    echo names($c->getTrace()), "\n";
    $frame = $c->getTrace()[0];
    echo basename($frame['file']), ':', $frame['line'], "\n";
    await($c);
    var_dump($c->getTrace());

    // a coroutine does not see the frames of whoever runs beside it or awaits it
    $of = await(spawn(function() { suspend(); return [names(Service::backtrace()), names((new Exception)->getTrace()), names(currentCoroutine()->getTrace())]; }));
    foreach ($of as $names) var_dump(str_contains($names, 'ofMain'), str_contains($names, '{closure'));
});
?>
--EXPECT--
[]
usleep < Service->item < array_map < Service->work
coro-7-trace.php:14
array(0) {
}
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
bool(true)
