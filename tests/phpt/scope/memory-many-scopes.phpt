--TEST--
100,000 scopes with handlers, callbacks, values and cycles leave no memory behind
--FILE--
<?php
use Async\{BoundedScope, Scope};
use function Async\{await, delay, getCoroutines, localContext, suspend, timeout};

require __DIR__ . '/kit.inc';

set_error_handler(fn() => true, E_WARNING); // of zombies

$kinds = [
    'plain' => function() { $s = new Scope; Scope::inherit($s); await($s->spawn(fn() => 1)); },
    'handlers' => function() { $s = new Scope; $s->setExceptionHandler(fn() => $s); $s->setChildScopeExceptionHandler(fn() => $s); },
    'callbacks' => function() { $s = new Scope; $s->onFinally(function() use ($s) {}); await($s->spawn(fn() => 1)); },
    'values' => function() { $s = new Scope; $s->set('self', $s)->set($s, [str_repeat('x', 100), $s]); await($s->spawn(fn() => 1)); },
    'two in a cycle' => function() {
        $a = new Scope;
        $b = Scope::inherit($a);
        $a->setExceptionHandler(fn() => $b);
        $b->setExceptionHandler(fn() => $a);
    },
    'a parent that holds its child' => function() {
        $a = new Scope;
        $b = Scope::inherit($a);
        $a->setChildScopeExceptionHandler(fn() => $b);
        await($b->spawn(fn() => 1));
    },
    'coroutines' => function() { $s = new Scope; $c = null; $c = $s->spawn(function() use (&$c, $s) { return [$c, $s]; }); await($c); },
    'contexts' => function() { $s = new Scope; await($s->spawn(function() use ($s) { localContext()->set('s', [$s, localContext()]); })); },
    'handled failures' => function() {
        $s = new Scope;
        $s->setChildScopeExceptionHandler(function(Throwable $e) use ($s) {});
        $c = Scope::inherit($s);
        $c->spawn(function() { throw new RuntimeException('x'); });
        suspend();
        suspend();
    },
    'cancelled' => function() { $s = new Scope; $s->setExceptionHandler(fn() => $s); $s->spawn(delay(...), 1000); suspend(); $s->cancel(); suspend(); },
    'bounded' => function() {
        $s = (new BoundedScope)->withTimeout(100_000)->boundedBy(timeout(100_000));
        $s->spawnAndBound(fn() => $s);
        await($s);
    },
];
foreach ($kinds as $name => $kind) {
    $rounds = function(int $count) use ($kind): int {
        for ($i = 0; $i < $count; $i++) {
            $kind();
            if ($i % 200 === 0) suspend(); // callbacks are coroutines, and run when others wait
        }
        for ($i = 0; $i < 4; $i++) {
            gc_collect_cycles();
            suspend();
        }
        return memory_get_usage();
    };
    $before = $rounds(10_000); // the collector's own table grows as long as garbage comes
    $grown = $rounds(10_000) - $before;
    T\check($name, $grown < 50_000, "grown by $grown");
}
T\alone();
var_dump(count(getCoroutines()), count(Async\globalScope()->getChildScopes()));
?>
--EXPECT--
plain: yes
handlers: yes
callbacks: yes
values: yes
two in a cycle: yes
a parent that holds its child: yes
coroutines: yes
contexts: yes
handled failures: yes
cancelled: yes
bounded: yes
int(1)
int(0)
