--TEST--
SLOT-4 destructors of a context's values may wait, spawn, and throw; awaiters wait for them
--FILE--
<?php
use function Async\{await, delay, localContext, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Value
{
    public function __construct(private Closure $then) {}
    public function __destruct() { ($this->then)(); }
}

// they wait, several coroutines' at once
$log = [];
$jobs = [];
foreach (['a', 'b', 'c'] as $name) {
    $jobs[] = spawn(function() use ($name, &$log) {
        localContext()->set('x', new Value(function() use ($name, &$log) {
            $log[] = "$name closing";
            suspend();
            usleep(20_000);
            T\turns(20);
            $log[] = "$name closed";
            localContext()->set('late', new Value(function() use ($name, &$log) { T\turns(5); $log[] = "$name late"; }));
        }));
        return $name;
    });
}
foreach ($jobs as $job) {
    $name = await($job);
    T\check($name, array_search("$name closed", $log) < array_search("$name late", $log) && in_array("$name late", $log), $log);
}
$first = array_slice($log, 0, 3);
sort($first);
echo implode(', ', $first), "\n";

// they throw: alone, on top of the body's, on top of the cancellation, two of them
$throws = fn(string $text) => new Value(fn() => throw new LogicException($text));
$chain = function(?Throwable $e): string {
    for ($all = []; $e; $e = $e->getPrevious()) $all[] = get_class($e) . ' ' . $e->getMessage();
    return implode(' < ', $all);
};
echo $chain(T\failure(spawn(fn() => localContext()->set('x', $throws('alone')) ? 1 : 2))), "\n";
echo $chain(T\failure(spawn(function() use ($throws) {
    localContext()->set('x', $throws('on top'));
    throw new RuntimeException('of the body');
}))), "\n";
$job = spawn(function() use ($throws) { localContext()->set('x', $throws('on top')); delay(600_000); });
T\begun($job);
$job->cancel(new Async\CancellationException('enough'));
echo $chain(T\failure($job)), "\n";
var_dump($job->isCancelled());
echo $chain(T\failure(spawn(function() use ($throws) {
    localContext()->set('x', $throws('first'))->set('y', $throws('second'));
}))), "\n";

// one that is thrown while it waits, and what comes after it runs nevertheless
$job = spawn(function() {
    localContext()->set('x', new Value(function() { T\turns(5); throw new LogicException('after waiting'); }));
    localContext()->set('y', new Value(function() { T\turns(5); echo "the next one\n"; }));
    throw new RuntimeException('of the body');
});
echo $chain(T\failure($job)), "\n";
var_dump(await(spawn(fn() => 'all is well')));

// spawned in a destructor
localContext()->set('x', new Value(function() { spawn(fn() => print("spawned at the end\n")); }));
echo "the end\n";
?>
--EXPECT--
a: yes
b: yes
c: yes
a closing, b closing, c closing
LogicException alone
LogicException on top < RuntimeException of the body
LogicException on top < Async\CancellationException enough
bool(false)
LogicException second < LogicException first
the next one
LogicException after waiting < RuntimeException of the body
string(11) "all is well"
the end
spawned at the end
