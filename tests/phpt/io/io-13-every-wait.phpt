--TEST--
IO-13 a cycle is found at once through every wait that only certain coroutines can end, whichever of its waits comes last
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use Async\{BoundedScope, CoroutineGroup, Future, Lifetime, Mutex, Pool, Scope};
use Async\Task\{Scheduler, Task};
use function Async\{await, awaitAll, awaitAny, awaitAnyOf, awaitChildren, awaitFirst, currentCoroutine, iterate, select, spawn, timeout};

require __DIR__ . '/kit.inc';
T\without_deprecations();

// Each way calls $f in another coroutine and waits for it; $late() returns, if that one is to wait first, when it does.
$ways = [
    'await' => function($f, $late) { $c = spawn($f); $late(); return await($c); },
    'await until' => function($f, $late) { $c = spawn($f); $late(); return await($c, timeout(600_000)); },
    'over another one' => function($f, $late) { $c = spawn(fn() => await(spawn($f))); $late(); return await($c); },
    'awaitAll' => function($f, $late) { $c = spawn($f); $late(); return awaitAll([spawn(fn() => 1), 'f' => $c])['f']; },
    'awaitAny' => function($f, $late) { $c = spawn($f); $late(); return awaitAny([$c]); },
    'awaitFirst' => function($f, $late) { $c = spawn($f); $late(); return awaitFirst([$c]); },
    'awaitFirst of one that fails' => function($f, $late) { $c = spawn($f); $late(); return awaitFirst([spawn(fn() => throw new Exception), $c]); },
    'awaitAnyOf' => function($f, $late) { $c = spawn($f); $late(); return awaitAnyOf(1, [$c])[0]; },
    'awaitAll of awaitables' => function($f, $late) { $g = new CoroutineGroup; $g->spawn($f); $late(); return awaitAll([$g, Future::completed(1)])[0][0]; },
    'select' => function($f, $late) { $c = spawn($f); $late(); return select([$c])[1]; },
    'select until' => function($f, $late) { $c = spawn($f); $late(); return select([$c], timeout(600_000))[1]; },
    'iterate' => function($f, $late) { $all = (function() use ($late) { yield 1; $late(); yield 2; })(); iterate($all, function($item) use ($f, &$r) { $item === 1 && $r = $f(); }); return $r; },
    'iterate, one at a time' => function($f, $late) { iterate([1, 2], function($item) use ($f, &$r) { $item === 1 && $r = $f(); }, 1); return $r; },
    'group' => function($f, $late) { $g = new CoroutineGroup; $g->spawn($f); $late(); return await($g)[0]; },
    'group of another one' => function($f, $late) { $c = spawn(function() use ($f) { $g = new CoroutineGroup; $g->spawn($f); return await($g)[0]; }); $late(); return await($c); },
    'scope' => function($f, $late) { $s = new Scope; $c = $s->spawn($f); $late(); $s->awaitCompletion(timeout(600_000)); return $c->getResult(); },
    'scope below' => function($f, $late) { $s = new Scope; $below = Scope::inherit($s); $c = $below->spawn($f); $late(); $s->awaitCompletion(timeout(600_000)); return $c->getResult(); },
    'bounded scope' => function($f, $late) { $s = new BoundedScope; $c = $s->spawn($f); $late(); await($s); return $c->getResult(); },
    'top-down scope' => function($f, $late) { $s = new Scope(Lifetime::TopDown); $c = $s->spawn($f); $late(); await($s); return $c->getResult(); },
    'one that has ended, bottom-up' => function($f, $late) { $s = new Scope(Lifetime::BottomUp); $c = $s->spawn(function() use ($f, &$child) { $child = spawn($f); }); $late(); await($c); return $child->getResult(); },
    'children' => function($f, $late) { $c = spawn($f); $late(); awaitChildren(); return $c->getResult(); },
    'direct children' => function($f, $late) { $s = new Scope; $c = $s->spawn($f); $late(); $s->awaitDirectChildren(); return $c->getResult(); },
    'future' => function($f, $late) { $future = Future::completed()->map($f); $late(); return $future->await(); },
    'future of a future' => function($f, $late) { $future = Future::completed()->map($f)->map(fn($r) => $r); $late(); return $future->await(); },
    'fiber' => function($f, $late) { $x = new Fiber(function() use ($f, $late) { $c = spawn($f); $late(); return await($c); }); $x->start(); return $x->getReturn(); },
    'tasks' => function($f, $late) { $s = new Scheduler; $s->newTask((function() use ($f, $late, &$r) { $c = spawn($f); $late(); $r = yield $c; })()); $s->run(); return $r; },
    'tasks, one at a socket' => function($f, $late) {
        [$here, $there] = T\pair();
        $s = new Scheduler;
        $s->newTask((function() use ($here) { yield Async\Task\waitForRead($here); })());
        $s->newTask((function() use ($f, $late, $there, &$r) { $c = spawn($f); $late(); $r = yield $c; fwrite($there, '1'); })());
        $s->run();
        return $r;
    },
    'task' => function($f, $late) { $t = new Task(1, (function() use ($f) { return yield spawn($f); })()); spawn(function() use ($t) { $s = new Scheduler; $s->schedule($t); $s->run(); }); $late(); return await($t); },
    'task that calls' => function($f, $late) { $t = new Task(1, (function() use ($f) { yield; return $f(); })()); spawn(function() use ($t) { $s = new Scheduler; $s->schedule($t); $s->run(); }); $late(); return await($t); },
    'mutex' => function($f, $late) { $m = new Mutex; spawn(function() use ($m, $f, &$r) { $m->with(function() use ($f, &$r) { T\turns(2); $r = $f(); }); }); T\until($m->isLocked(...)); $late(); $m->lock(); return $r; },
    'pool' => function($f, $late) { $p = new Pool(fn() => new stdClass, max: 1); spawn(function() use ($p, $f, &$r) { $x = $p->acquire(); T\turns(2); $r = $f(); $p->release($x); }); T\until(fn() => $p->activeCount() === 1); $late(); $p->acquire(); return $r; },
];

$ticks = new T\Ticks; // waits for other things all the while: no deadlock that the scheduler would see
$db = new PDO('sqlite::memory:');
spl_autoload_register(function($class) use (&$autoload) { if ($class === $GLOBALS['class']) { $GLOBALS['answer'] = $autoload(); eval("class $class {}"); } });

$number = 0;
foreach ($ways as $name => $way) {
    $answers = [];
    foreach ([false, true] as $is_late) {
        $number++;
        $inner = null;
        $late = function() use ($is_late, &$inner) { $is_late && T\until(function() use (&$inner) { return in_array($inner?->getAwaitingInfo()['call'] ?? '', ['autoload', 'locked handle']); }); };
        // What is called in the other coroutine, in this way.
        $called = function($f) use ($way, $late, &$inner) { return $way(function() use ($f, &$inner) { $inner = currentCoroutine(); return $f(); }, $late); };

        $class = "Loaded$number";
        $autoload = fn() => $called(fn() => class_exists($class));
        $found = await(spawn(fn() => class_exists($class)));
        $answers[] = $answer === false && $found ? 'missing' : json_encode([$answer, $found]);

        $db->sqliteCreateFunction("f$number", fn() => $called(function() use ($db) {
            try { return $db->query('select 42')->fetchColumn(); } catch (Async\AsyncException $e) { return preg_replace('/#\d+/', '#N', $e->getMessage()); }
        }));
        $answer = await(spawn(fn() => $db->query("select f$number()")->fetchColumn()));
        $answers[] = $answer === 'PDO::query() would deadlock: coroutine #N is in the middle of PDO::query() and waits for this one' ? 'refused' : $answer;
    }
    echo "$name: ", implode(', ', $answers), "\n";
}
$ticks->stop();
?>
--EXPECT--
await: missing, refused, missing, refused
await until: missing, refused, missing, refused
over another one: missing, refused, missing, refused
awaitAll: missing, refused, missing, refused
awaitAny: missing, refused, missing, refused
awaitFirst: missing, refused, missing, refused
awaitFirst of one that fails: missing, refused, missing, refused
awaitAnyOf: missing, refused, missing, refused
awaitAll of awaitables: missing, refused, missing, refused
select: missing, refused, missing, refused
select until: missing, refused, missing, refused
iterate: missing, refused, missing, refused
iterate, one at a time: missing, refused, missing, refused
group: missing, refused, missing, refused
group of another one: missing, refused, missing, refused
scope: missing, refused, missing, refused
scope below: missing, refused, missing, refused
bounded scope: missing, refused, missing, refused
top-down scope: missing, refused, missing, refused
one that has ended, bottom-up: missing, refused, missing, refused
children: missing, refused, missing, refused
direct children: missing, refused, missing, refused
future: missing, refused, missing, refused
future of a future: missing, refused, missing, refused
fiber: missing, refused, missing, refused
tasks: missing, refused, missing, refused
tasks, one at a socket: missing, refused, missing, refused
task: missing, refused, missing, refused
task that calls: missing, refused, missing, refused
mutex: missing, refused, missing, refused
pool: missing, refused, missing, refused
