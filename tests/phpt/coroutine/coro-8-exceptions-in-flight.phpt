--TEST--
CORO-8 exceptions in flight while finally blocks and destructors suspend: each stays with its coroutine
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Slow
{
    public function __construct(private string $name) {}
    public function __destruct()
    {
        suspend();
        try {
            delay(1);
            throw new LogicException("inside the destructor of $this->name");
        } catch (LogicException) {
        }
        suspend();
    }
}

function work(string $name, string $kind)
{
    $local = new Slow($name);
    try {
        suspend();
        throw new RuntimeException($name);
    } finally {
        suspend();
        if ($kind === 'returns') return 'returned instead';
        if ($kind === 'throws') throw new DomainException("$name, from finally");
        delay(2);
    }
}

$jobs = [];
foreach (['a' => 'passes', 'b' => 'returns', 'c' => 'throws', 'd' => 'passes', 'e' => 'throws', 'f' => 'returns'] as $name => $kind) {
    $jobs[$name] = spawn(function() use ($name, $kind) {
        try {
            return work($name, $kind);
        } catch (Exception $e) {
            suspend();
            $previous = $e->getPrevious();
            return get_class($e) . " {$e->getMessage()}" . ($previous ? ' after ' . $previous->getMessage() : '');
        }
    });
}
$clean = spawn(function() { for ($i = 0; $i < 30; $i++) { suspend(); } return 'undisturbed'; });
foreach (T\all($jobs) as $name => $result) echo "$name: $result\n";
echo Async\await($clean), "\n";
?>
--EXPECT--
a: RuntimeException a
b: returned instead
c: DomainException c, from finally after c
d: RuntimeException d
e: DomainException e, from finally after e
f: returned instead
undisturbed
