--TEST--
H16 array_splice() and array_multisort() are not suspended while they work on an array that others can change
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

/** Whether code that these functions run is in progress, and whether another coroutine has seen that. */
$inside = $seen = false;

final class Value
{
    public function __construct(private string $text) {}

    public function __toString(): string
    {
        $GLOBALS['inside'] = true;
        // In any order of coroutines one of these is enough.
        for ($i = 0; $i < 100 && !$GLOBALS['seen']; $i++) {
            suspend();
        }
        $GLOBALS['inside'] = false;
        return $this->text;
    }

    public function __destruct()
    {
        (string) $this;
    }
}

$functions = [
    'array_splice' => function(array &$values) { array_splice($values, 1, 2, ['new']); },
    'array_multisort' => function(array &$values) { array_multisort($values, SORT_STRING); },
    'suspended' => function(array &$values) { (string) $values[0]; },
];
foreach ($functions as $name => $function) {
    $values = [new Value('d'), new Value('b'), new Value('a'), new Value('c')];
    $seen = false;
    $ended = false;
    $job = spawn(function() use (&$values, &$ended, $function) {
        $function($values);
        $ended = true;
    });
    while (!$ended) {
        suspend();
        if ($inside && !$seen) {
            $seen = true;
            $values[] = 'a longer array, which is elsewhere in memory';
        }
    }
    await($job);
    echo $name, ': ', $seen ? 'others ran' : 'alone', ', ', count($values), " values\n";
    $values = $job = null;
}
try {
    $values = [new class {
        public function __destruct()
        {
            await(spawn(fn() => 1));
        }
    }];
    array_splice($values, 0);
} catch (Async\AsyncException $e) {
    echo count($values), ': ', $e->getMessage(), "\n";
}
// since PHP 8.4 fibers may switch in destructors
$fiber = new Fiber(function() {
    $values = [new class {
        public function __destruct()
        {
            Fiber::suspend();
        }
    }];
    array_splice($values, 0);
});
try {
    $fiber->start();
} catch (FiberError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
array_splice: alone, 3 values
array_multisort: alone, 4 values
suspended: others ran, 5 values
0: Cannot await here: the engine allows no switch in this place
Cannot switch fibers in current execution context
