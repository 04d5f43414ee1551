--TEST--
H6 a destructor that blocks while an exception unwinds hands that exception to no other coroutine
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Process
{
    private $handle;
    public function __construct() { $this->handle = popen('exec sleep 0.02', 'r'); }
    public function __destruct() { pclose($this->handle); }
}

function fails(int $i): void
{
    $process = new Process;
    delay(1);
    throw new RuntimeException("$i");
}

$jobs = [];
for ($i = 0; $i < 8; $i++) {
    $jobs[] = spawn(function() use ($i) {
        try {
            fails($i);
        } catch (RuntimeException $e) {
            return $e->getMessage() === "$i" ? 'its own' : 'another one';
        }
        return 'none';
    });
    $jobs[] = spawn(function() {
        for ($k = 0; $k < 20; $k++) {
            delay(2);
            try {
                throw new LogicException('local');
            } catch (LogicException $e) {
                if ($e->getPrevious()) return 'chained to a strange one';
            }
            array_map(fn($x) => suspend() ?? $x, [1]);
        }
        return 'undisturbed';
    });
}
echo implode(', ', array_unique(T\all($jobs))), "\n";
?>
--EXPECT--
its own, undisturbed
