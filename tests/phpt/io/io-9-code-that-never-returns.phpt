--TEST--
IO-9 who was started by a file's code, as long as that runs, is inside of it: to require it waits for nothing, as in a recursion
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';
$app = <<<'PHP'
    <?php
    namespace %s;

    require_once 'lib.php';
    function helper() { return 'helped'; }
    $jobs = [
        'spawned' => \Async\spawn(fn() => \job()),
        'by one that was spawned' => \Async\spawn(fn() => \Async\await(\Async\spawn(fn() => \job()))),
        'in a scope' => ($scope = new \Async\Scope)->spawn(fn() => \job()),
        'for each' => \Async\spawn(function() { \Async\iterate([1], function() use (&$r) { $r = \job(); }); return $r; }),
        'after its spawner has ended' => \Async\await(\Async\spawn(fn() => \Async\spawn(function() { \T\turns(3); return \job(); }))),
    ];
    foreach ($jobs as $name => $job) {
        \T\until($job->isCompleted(...));
        echo '%1$s, ', $name, ': ', \Async\await($job), "\n";
    }
    while (!$GLOBALS['is_over']) \Async\suspend();
    const ALL = 'all';
    PHP;
T\work_in([
    'first.php' => sprintf($app, 'first'),
    'second.php' => sprintf($app, 'second'),
    'third.php' => sprintf($app, 'third'),
    'lib.php' => '<?php function job() { require_once "$GLOBALS[app].php"; return ("$GLOBALS[app]\helper")(); }',
    'inner.php' => '<?php $GLOBALS["spawned_inside"] = Async\spawn(fn() => require_once "outer.php"); await_turns(); return 2;',
    'outer.php' => '<?php function await_turns() { T\turns(3); } require "inner.php"; $GLOBALS["spawned_after"] = Async\spawn(function() { require_once "inner.php"; return require_once "outer.php"; }); T\until($GLOBALS["spawned_inside"]->isCompleted(...)); T\until($GLOBALS["spawned_after"]->isCompleted(...)); return 1;',
    'left.php' => '<?php return 1;',
    'slow.php' => '<?php $GLOBALS["is_slow"] = true; while (!$GLOBALS["goes_on"]) Async\suspend(); const SLOW = "all of it";',
]);

$is_over = true;
$app = 'first';
require_once 'first.php'; // nothing was spawned before
$app = 'second';
require_once 'second.php';
$app = 'third';
await(spawn(fn() => require_once 'third.php'));

// Files in files: all of them.
echo json_encode([require_once 'outer.php', await($spawned_inside), await($spawned_after)]), "\n";

// Others wait for the end, also if the loader has spawned them: before the file, or after another one.
$is_slow = $goes_on = false;
$before = spawn(function() { T\until(fn() => $GLOBALS['is_slow']); require_once 'slow.php'; return SLOW; });
$loader = spawn(function() use (&$sibling) {
    require 'left.php';
    $sibling = spawn(function() { T\until(fn() => $GLOBALS['is_slow']); require_once 'slow.php'; return SLOW; });
    require_once 'slow.php';
});
T\until(fn() => $GLOBALS['is_slow']);
$after = spawn(function() { require_once 'slow.php'; return SLOW; });
T\until(fn() => array_column(array_map(fn($c) => $c->getAwaitingInfo(), [$before, $sibling, $after]), 'call') === ['include', 'include', 'include']);
$goes_on = true;
echo json_encode(T\all([$before, $sibling, $after])), "\n";
?>
--EXPECT--
first, spawned: helped
first, by one that was spawned: helped
first, in a scope: helped
first, for each: helped
first, after its spawner has ended: helped
second, spawned: helped
second, by one that was spawned: helped
second, in a scope: helped
second, for each: helped
second, after its spawner has ended: helped
third, spawned: helped
third, by one that was spawned: helped
third, in a scope: helped
third, for each: helped
third, after its spawner has ended: helped
[1,true,true]
["all of it","all of it","all of it"]
