--TEST--
SLOT-4 100,000 coroutines with a context, of each kind of ending, leave no memory behind
--FILE--
<?php
use Async\Key;
use function Async\{await, delay, localContext, spawn, suspend};

require __DIR__ . '/kit.inc';

$key = new Key;
$fill = function() use ($key) {
    localContext()->set('a', str_repeat('x', 100))->set($key, [localContext()])->set(new Key, 1)->set('self', localContext());
};
$kinds = [
    'returned' => function() use ($fill) { await(spawn($fill)); },
    'held' => function() use ($fill) { static $held; $job = spawn($fill); $held = $job->getContext(); await($job); },
    'failed' => function() use ($fill) { T\failure(spawn(function() use ($fill) { $fill(); throw new RuntimeException('x'); })); },
    'cancelled' => function() use ($fill) { $c = spawn(function() use ($fill) { $fill(); delay(600_000); }); suspend(); $c->cancel(); T\failure($c); },
    'never started' => function() { $c = spawn(function() {}); $c->getContext()->set('c', $c)->set($c, $c); $c->cancel(); T\failure($c); },
    'after the end' => function() use ($key) { $c = spawn(fn() => 1); await($c); $c->getContext()->set('k', $key)->set($key, 1); },
];
foreach ($kinds as $name => $kind) {
    for ($i = 0; $i < 200; $i++) $kind();
    gc_collect_cycles();
    $before = memory_get_usage();
    for ($i = 0; $i < 16_667; $i++) $kind();
    gc_collect_cycles();
    $grown = memory_get_usage() - $before;
    T\check($name, $grown < 50_000, "grown by $grown");
}
?>
--EXPECT--
returned: yes
held: yes
failed: yes
cancelled: yes
never started: yes
after the end: yes
