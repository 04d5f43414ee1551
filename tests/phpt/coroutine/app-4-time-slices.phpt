--TEST--
APP-4 code that computes gives way to others when its time slice has passed, wherever PHP code alone is below
--INI--
async.time_slice_ms=2
--EXTENSIONS--
pcntl
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

$count = 0;
$counts = spawn(function() use (&$count) {
    while (true) {
        delay(1);
        $count++;
    }
});
suspend();

/** Computes until another coroutine has run; it never would without slices. */
function compute(): string
{
    global $count;
    for ($before = $count; $count < $before + 3; );
    return 'others have run';
}

final class Works
{
    public function __invoke(): string
    {
        return compute();
    }

    public static function __callStatic(string $name, array $arguments): string
    {
        return compute();
    }

    public function __call(string $name, array $arguments): string
    {
        return compute();
    }
}

echo 'the script: ';
for ($before = $count; $count < $before + 3; );
echo "others have run\n";
echo 'a function of the script: ', compute(), "\n";
echo 'a coroutine: ', await(spawn(compute(...))), "\n";
echo 'deeper: ', await(spawn(fn() => (fn() => compute())())), "\n";
echo 'call_user_func(): ', await(spawn(fn() => call_user_func_array(...)('call_user_func', ['compute']))), "\n";
echo 'a method: ', (new Works)(), ', ', (new Works)->other(), ', ', Works::another(), "\n";
echo 'eval: ', eval('return compute();'), "\n";
echo 'two that compute: ', implode(', ', array_map(await(...), [spawn(compute(...)), spawn(compute(...))])), "\n";

// In the child of a fork only the coroutine lives on that has forked.
$pid = pcntl_fork();
if ($pid === 0) {
    $count = 0;
    spawn(function() use (&$count) {
        for (; $count < 10; $count++) {
            delay(1);
        }
    });
    echo 'the child of a fork: ', compute(), "\n";
    exit;
}
pcntl_waitpid($pid, $status);
$counts->cancel();
?>
--EXPECT--
the script: others have run
a function of the script: others have run
a coroutine: others have run
deeper: others have run
call_user_func(): others have run
a method: others have run, others have run, others have run
eval: others have run
two that compute: others have run, others have run
the child of a fork: others have run
