--TEST--
Cycles of scopes, closures, values, coroutines and groups are collected when nobody holds them and no coroutine needs them
--FILE--
<?php
use Async\{BoundedScope, CoroutineGroup, Lifetime, Scope};
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

set_error_handler(fn() => true, E_WARNING); // of zombies

final class Held
{
    public static int $gone = 0;
    public function __construct(public mixed $other = null) {}
    public function __destruct() { self::$gone++; }
}

function collect(): void
{
    for ($i = 0; $i < 4; $i++) {
        gc_collect_cycles();
        T\turns(5); // handlers and callbacks run
    }
}

$told = 0;
$kinds = [
    'handler' => function(Scope $s, Held $held) { $s->setExceptionHandler(function() use ($s, $held) {}); },
    'child handler' => function(Scope $s, Held $held) { $s->setChildScopeExceptionHandler(function() use ($s, $held) {}); },
    'callback' => function(Scope $s, Held $held) { $s->onFinally(function() use ($s, $held) {}); },
    'value' => function(Scope $s, Held $held) { $s->set('a', [$s])->set($s, $held)->set($held, $held); },
    'all of them, used' => function(Scope $s, Held $held) {
        $all = fn() => [$s, $held];
        $s->setExceptionHandler($all);
        $s->onFinally($all);
        $s->set('all', $all);
        await($s->spawn($all));
    },
    'two scopes' => function(Scope $s, Held $held) {
        $child = Scope::inherit($s);
        $s->setExceptionHandler(fn() => [$child, $held]);
        $child->setExceptionHandler(fn() => [$s, $held]);
    },
    'the parent holds its child' => function(Scope $s, Held $held) {
        $child = Scope::inherit($s);
        $s->setChildScopeExceptionHandler(fn() => [$child, $held]);
    },
    'the same, and the child has run' => function(Scope $s, Held $held) {
        $child = Scope::inherit($s);
        $s->setChildScopeExceptionHandler(fn() => [$child, $held]);
        $child->onFinally(function() {});
        $child->spawn(suspend(...));
    },
    'a failure was handled' => function(Scope $s, Held $held) use (&$told) {
        $s->setExceptionHandler(function(Throwable $e) use ($s, $held, &$told) { $told++; });
        $s->spawn(function() use ($s) { throw new RuntimeException('x'); });
        suspend();
    },
    'a zombie fails when nobody else holds its handler' => function(Scope $s, Held $held) use (&$told) {
        $s->setExceptionHandler(function(Throwable $e) use ($s, $held, &$told) { $told++; });
        $s->spawn(function() { T\turns(20); throw new RuntimeException('x'); });
    },
    'cancelled, with its arguments in the trace' => function(Scope $s, Held $held) {
        $s->set('held', $held);
        $s->spawn(delay(...), 1000);
        (function(Scope $s, Held $held) { $s->cancel(); })($s, $held);
    },
    'coroutine' => function(Scope $s, Held $held) {
        $coroutine = null;
        $coroutine = $s->spawn(function() use (&$coroutine, $s, $held) { return [$coroutine, $s, $held]; });
        await($coroutine);
    },
    'context' => function(Scope $s, Held $held) {
        await($s->spawn(function() use ($s, $held) { Async\localContext()->set('x', [$s, $held, Async\localContext()]); }));
    },
    'bounds' => function(Scope $s, Held $held) {
        $bounded = new BoundedScope;
        $bounded->withTimeout(100_000)->boundedBy($other = (new BoundedScope)->boundedBy($bounded));
        $other->set('held', $held);
    },
    'group' => function(Scope $s, Held $held) {
        $group = new CoroutineGroup($s);
        $s->set('group', $group);
        $group->spawn(fn() => [$group, $held]);
        await($group);
    },
    'group, and its failure was never asked for' => function(Scope $s, Held $held) use (&$told) {
        $s->setExceptionHandler(function(RuntimeException $e) use (&$told) { $told++; });
        $group = new CoroutineGroup($s);
        $held->other = [$group->spawn(function() { throw new RuntimeException('x'); }), $held, $group];
        T\ended($held->other[0]);
    },
];
foreach ($kinds as $name => $kind) {
    foreach (Lifetime::cases() as $lifetime) {
        [Held::$gone, $told] = [0, 0];
        for ($i = 0; $i < 30; $i++) {
            $held = new Held;
            $held->other = new Scope($lifetime);
            $kind($held->other, $held);
            unset($held);
        }
        suspend();
        collect();
        if (str_contains($name, 'zombie')) {
            T\turns(50);
            collect();
            // The handler, which may still be called, has kept their scope.
            T\check('each failure was handled', $told === 30, "$lifetime->name $told");
        } elseif (str_contains($name, 'failure')) {
            T\check('each failure was handled', $told === 30, "$lifetime->name $told");
        }
        T\check($name, Held::$gone === 30, "$lifetime->name " . Held::$gone);
    }
}
T\alone();
?>
--EXPECT--
handler: yes
handler: yes
handler: yes
child handler: yes
child handler: yes
child handler: yes
callback: yes
callback: yes
callback: yes
value: yes
value: yes
value: yes
all of them, used: yes
all of them, used: yes
all of them, used: yes
two scopes: yes
two scopes: yes
two scopes: yes
the parent holds its child: yes
the parent holds its child: yes
the parent holds its child: yes
the same, and the child has run: yes
the same, and the child has run: yes
the same, and the child has run: yes
each failure was handled: yes
a failure was handled: yes
each failure was handled: yes
a failure was handled: yes
each failure was handled: yes
a failure was handled: yes
each failure was handled: yes
a zombie fails when nobody else holds its handler: yes
each failure was handled: yes
a zombie fails when nobody else holds its handler: yes
each failure was handled: yes
a zombie fails when nobody else holds its handler: yes
cancelled, with its arguments in the trace: yes
cancelled, with its arguments in the trace: yes
cancelled, with its arguments in the trace: yes
coroutine: yes
coroutine: yes
coroutine: yes
context: yes
context: yes
context: yes
bounds: yes
bounds: yes
bounds: yes
group: yes
group: yes
group: yes
each failure was handled: yes
group, and its failure was never asked for: yes
each failure was handled: yes
group, and its failure was never asked for: yes
each failure was handled: yes
group, and its failure was never asked for: yes
