--TEST--
ERR-4 a deadlock inside scopes names where they were created
--FILE--
<?php
require __DIR__ . '/kit.inc';
$ended = T\php(<<<'PHP'
    use Async\{Lifetime, Scope};
    use function Async\await;
    $one = new Scope(Lifetime::TopDown);
    $two = new Scope(Lifetime::TopDown);
    $one->spawn(fn() => await($two));
    $two->spawn(fn() => $one->awaitDirectChildren());
    try {
        await($one);
    } catch (Async\DeadlockError $e) {
        echo "caught\n";
    }
    PHP);
preg_match_all('~Warning: Deadlock: coroutine #\d \((?:spawned at \S+|(the script itself))\) .* waits for (.*) in ~', $ended->output, $m);
foreach ($m[2] as $i => $for) {
    echo preg_replace('~/\S+:~', 'line ', $for), $m[1][$i] ? ' (main)' : '', "\n";
}
echo $ended->status, $ended->has('caught', 'Uncaught Async\DeadlockError') ? ' reported' : $ended, "\n";
// a parent that is complete when its child is, awaited by that child
$ended = T\php(<<<'PHP'
    use function Async\{await, currentCoroutine, spawn};
    $scope = new Async\Scope(Async\Lifetime::BottomUp);
    $parent = $scope->spawn(function() { $me = currentCoroutine(); spawn(fn() => await($me)); });
    await($parent);
    PHP);
echo $ended->status, $ended->has('Uncaught Async\DeadlockError: Deadlock: 2 coroutines') ? ' reported' : $ended, "\n";
?>
--EXPECT--
await() of the scope created at line 4 (main)
await() of the scope created at line 5
awaitDirectChildren() of coroutine #2
255 reported
255 reported
