--TEST--
100,000 groups, of each kind of ending, leave no memory behind
--FILE--
<?php
use Async\{CoroutineGroup, Scope};
use function Async\{await, delay, getCoroutines, spawn, suspend};

require __DIR__ . '/kit.inc';

set_error_handler(fn() => true, E_WARNING); // of zombies

$kinds = [
    'awaited' => function() { $g = new CoroutineGroup; $g->spawn(fn() => 1); $g->spawn(fn() => $g); await($g); },
    'in a scope that holds it' => function() { $s = new Scope; $g = new CoroutineGroup($s); $s->set('g', $g); $g->spawn(fn() => [$s, $g]); await($g); },
    'failed' => function() {
        $g = new CoroutineGroup;
        $g->spawn(function() { throw new RuntimeException('x'); });
        $g->spawn(delay(...), 1000);
        try { await($g); } catch (RuntimeException) { $g->getErrors(); }
    },
    'cancelled' => function() { $g = new CoroutineGroup; $g->spawn(delay(...), 1000); $g->spawn(delay(...), 1000); suspend(); $g->cancel(); suspend(); },
    'dropped' => function() { $g = new CoroutineGroup; $g->add(spawn(suspend(...))); unset($g); suspend(); suspend(); },
    'empty' => function() { await(new CoroutineGroup); },
];
foreach ($kinds as $name => $kind) {
    $rounds = function(int $count) use ($kind): int {
        for ($i = 0; $i < $count; $i++) {
            $kind();
        }
        for ($i = 0; $i < 4; $i++) {
            gc_collect_cycles();
            suspend();
        }
        return memory_get_usage();
    };
    $before = $rounds(10_000);
    $grown = $rounds(16_667) - $before;
    T\check($name, $grown < 50_000, "grown by $grown");
}
T\alone();
var_dump(count(getCoroutines()));
?>
--EXPECT--
awaited: yes
in a scope that holds it: yes
failed: yes
cancelled: yes
dropped: yes
empty: yes
int(1)
