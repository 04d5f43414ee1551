--TEST--
SLOT-4 each coroutine has its own context, always the same object; others get at it by getContext()
--FILE--
<?php
use function Async\{await, currentCoroutine, localContext, onFinally, spawn, suspend};

require __DIR__ . '/kit.inc';

$main = localContext();
T\check('the same in main', $main === localContext() && $main === currentCoroutine()->getContext());
$main->set('who', 'main');

$jobs = [];
for ($i = 0; $i < 20; $i++) {
    $jobs[] = spawn(function() use ($i, $main) {
        $context = localContext();
        if ($context === $main || $context->has('who')) return 'not its own';
        $context->set('who', $i);
        for ($k = 0; $k < 3; $k++) {
            suspend();
            if (localContext() !== $context || $context->get('who') !== $i) return 'not the same';
        }
        $fiber = new Fiber(function() { Fiber::suspend(localContext()); });
        if ($fiber->start() !== $context || currentCoroutine()->getContext() !== $context) return 'not in a fiber';
        return await(spawn(fn() => localContext()->find('who'))) ?? 'fine';
    });
}
echo implode(', ', array_unique(T\all($jobs))), "\n";
var_dump(localContext()->get('who'));

// from outside: before the start, while it waits
$job = spawn(function() {
    echo localContext()->get('given'), "\n";
    localContext()->set('mine', 'seen from outside');
    T\turns(10);
    return localContext()->get('late');
});
$job->getContext()->set('given', 'set before the start');
T\begun($job);
echo $job->getContext()->get('mine'), "\n";
$job->getContext()->set('late', 'set while it waited');
echo await($job), "\n";

// callbacks for the end have that of their coroutine
await(spawn(function() {
    localContext()->set('who', 'the coroutine');
    onFinally(function($job) {
        var_dump(localContext()->has('who'), $job->getContext()->has('who'), localContext() === $job->getContext());
    });
}));
T\alone();
?>
--EXPECT--
the same in main: yes
fine
string(4) "main"
set before the start
seen from outside
set while it waited
bool(true)
bool(true)
bool(true)
