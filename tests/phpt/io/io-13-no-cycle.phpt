--TEST--
IO-13 a wait that something else can end is no part of a cycle: who needs what its coroutine has waits for its turn
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use Async\{Channel, CoroutineGroup, FutureState, Semaphore};
use function Async\{await, awaitAll, awaitAny, awaitAnyOf, awaitFirst, delay, iterate, select, spawn, suspend, timeout};

require __DIR__ . '/kit.inc';
T\without_deprecations();

// Each way waits for $c, which waits for what this coroutine has, or for $other.
$ways = [
    'awaitAny' => fn($c, $other) => awaitAny([$c, $other]),
    'awaitAny with a timeout' => fn($c) => awaitAny([$c, timeout(1)]),
    'awaitAny with a future' => function($c, $other) { $state = new FutureState; $c2 = spawn(fn() => $state->complete(await($other))); return awaitAny([$c, new Async\Future($state)]); },
    'awaitFirst' => fn($c, $other) => awaitFirst([$c, $other]),
    'awaitAnyOf' => fn($c, $other) => awaitAnyOf(1, [$c, $other]),
    'select' => fn($c, $other) => select([$c, $other]),
    'select with a channel' => function($c, $other) { $channel = new Channel; $sends = spawn(fn() => $channel->send(await($other))); return select([$c, $channel]); },
    'semaphore' => function($c, $other) { $s = new Semaphore(1); $s->acquire(); spawn(function() use ($s, $other) { await($other); $s->release(); }); $s->acquire(); },
    'one of another one' => fn($c, $other) => await(spawn(fn() => awaitAny([$c, spawn(fn() => await($other))]))),
    'iterate, two at a time' => function($c, $other) { iterate([$c, $other, null], function($which) use ($c) { try { $which ? await($which) : $c->cancel(); } catch (Async\CancellationException) {} }, 2); },
    'group without it' => function($c, $other) { $g = new CoroutineGroup; $g->add($other); return await($g); },
];
$ticks = new T\Ticks;
$db = new PDO('sqlite::memory:');
spl_autoload_register(function($class) use (&$autoload) { if ($class === $GLOBALS['class']) { $autoload(); eval("class $class {}"); } });
$number = 0;
foreach ($ways as $name => $way) {
    foreach (['class', 'handle'] as $what) {
        $number++;
        $class = "Loaded$number";
        $needs = $what === 'class' ? fn() => class_exists($class) : fn() => $db->query('select 42')->fetchColumn();
        $hold = function() use ($way, $needs, &$c) {
            $c = spawn($needs);
            T\until(fn() => in_array($c->getAwaitingInfo()['call'] ?? '', ['autoload', 'locked handle']));
            $way($c, spawn(function() { T\turns(2); return 1; }));
            return 1;
        };
        $autoload = $hold;
        $db->sqliteCreateFunction("f$number", $hold);
        await(spawn(fn() => $what === 'class' ? class_exists($class) : $db->query("select f$number()")->fetchColumn()));
        $answers[$name][] = T\failure($c) ? 'cancelled' : $c->getResult();
    }
    echo "$name: ", json_encode($answers[$name]), "\n";
}
$ticks->stop();
?>
--EXPECT--
awaitAny: [true,42]
awaitAny with a timeout: [true,42]
awaitAny with a future: [true,42]
awaitFirst: [true,42]
awaitAnyOf: [true,42]
select: [true,42]
select with a channel: [true,42]
semaphore: [true,42]
one of another one: [true,42]
iterate, two at a time: ["cancelled","cancelled"]
group without it: [true,42]
