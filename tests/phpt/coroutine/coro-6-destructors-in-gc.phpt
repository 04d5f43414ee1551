--TEST--
CORO-6 destructors run by the cycle collector may block; every one runs once, and collecting goes on
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Knot
{
    public static int $gone = 0;
    public ?Knot $self;
    public function __construct(private bool $blocks = false) { $this->self = $this; }
    public function __destruct()
    {
        self::$gone++;
        if ($this->blocks) {
            usleep(2000);
            delay(1);
            suspend();
        }
    }
}

$jobs = [];
for ($i = 0; $i < 10; $i++) {
    $jobs[] = spawn(function() {
        for ($i = 0; $i < 20; $i++) {
            new Knot($i % 10 === 0);
            suspend();
            if ($i % 5 === 0) gc_collect_cycles();
        }
    });
}
T\all($jobs);
gc_collect_cycles();
var_dump(Knot::$gone);

// the collector that starts by itself: many possible roots while others are suspended
for ($i = 0; $i < 30_000; $i++) {
    new Knot;
    if ($i % 1000 === 0) suspend();
}
gc_collect_cycles();
var_dump(Knot::$gone, gc_status()['runs'] > 1);
?>
--EXPECT--
int(200)
int(30200)
bool(true)
