--TEST--
CORO-6 destructors may suspend and block, several at once, and the coroutine that dropped the object waits for its own only
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

final class Closing
{
    public static array $log = [];
    public function __construct(private string $name) {}
    public function __destruct()
    {
        self::$log[] = "$this->name closing";
        suspend();
        usleep(20_000);
        T\turns(20);
        self::$log[] = "$this->name closed";
    }
}

$jobs = [];
foreach (['a', 'b', 'c'] as $name) {
    $jobs[] = spawn(function() use ($name) {
        $object = new Closing($name);
        $object = null;
        Closing::$log[] = "$name after";
    });
}
T\all($jobs);
$log = Closing::$log;
$first = array_slice($log, 0, 3);
sort($first);
echo implode(', ', $first), "\n";
foreach (['a', 'b', 'c'] as $name) {
    T\check($name, array_search("$name closed", $log) < array_search("$name after", $log), $log);
}

// in an array, in an exception's trace, as a return value thrown away
Closing::$log = [];
T\all([spawn(function() { $all = [new Closing('d'), new Closing('e')]; unset($all[0]); Closing::$log[] = 'd only'; })]);
(fn() => new Closing('f'))();
echo implode(', ', Closing::$log), "\n";
?>
--EXPECT--
a closing, b closing, c closing
a: yes
b: yes
c: yes
d closing, d closed, d only, e closing, e closed, f closing, f closed
