--TEST--
CORO-1 spawn() in a destructor: of a coroutine's locals, of a coroutine's captured objects, of a cycle, of an object of the script
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Last
{
    public ?Last $self = null;
    public function __construct(private string $name) {}
    public function __destruct()
    {
        $name = $this->name;
        spawn(function() use ($name) {
            suspend();
            echo "after $name\n";
        });
    }
}

await(spawn(function() {
    $local = new Last('the local');
    suspend();
}));
T\alone();
$captured = new Last('the captured');
$coroutine = spawn(function() use ($captured) { suspend(); });
unset($captured);
await($coroutine);
T\alone();
echo "-\n";

$cycle = new Last('the cycle');
$cycle->self = $cycle;
unset($cycle);
gc_collect_cycles();
T\alone();
echo "-\n";

$dropped = new Last('the dropped');
unset($dropped);
$late = new Last('never: this one lives till shutdown');
echo "the script ends\n";
?>
--EXPECT--
after the local
after the captured
-
after the cycle
-
the script ends
after the dropped
