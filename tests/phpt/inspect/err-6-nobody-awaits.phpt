--TEST--
ERR-6 async.diagnostics warns of coroutines of the global scope that have ended with nobody ever awaiting them
--FILE--
<?php
require __DIR__ . '/kit.inc';

$on = '-d async.diagnostics=1';
function told(T\Ended $ended): string
{
    return preg_replace('~/\S*/spindle-phpt-\w+~', 'FILE', trim($ended->output)) . " [$ended->status]\n\n";
}

$code = <<<'PHP'
    use Async\{CoroutineGroup, Scope};
    use function Async\{await, awaitChildren, delay, spawn, suspend, timeout};
    // nothing to say of these
    await(spawn(fn() => 1));
    $limited = spawn(fn() => delay(20));
    try { await($limited, timeout(1)); } catch (Async\AwaitCancelledException) {}
    $group = new CoroutineGroup;
    $group->spawn(fn() => 1);
    $scope = new Scope;
    $scope->spawn(fn() => 1);
    await(spawn(function () { spawn(fn() => 1); awaitChildren(); }));
    spawn(fn() => delay(600_000))->cancel();
    await(spawn(fn() => Async\onFinally(fn() => null)));
    $late = spawn(fn() => 1);
    delay(40);
    await($late);
    Async\iterate([1, 2], fn() => suspend());
    Async\Future::completed(1)->map(fn($one) => $one)->await();
    foreach (Async\Channel::fromStream(popen('echo', 'r')) as $line);
    PHP;
echo 'awaited: ', told(T\php($code, $on));

$code = <<<'PHP'
    Async\spawn(fn() => 1);
    $held = Async\spawn(fn() => 1);
    $let_go = Async\spawn(fn() => 1);
    Async\delay(5);
    unset($let_go);
    Async\delay(5);
    echo "end\n";
    PHP;
echo told(T\php($code, $on)), 'off: ', told(T\php($code));

// an error handler gets it, and may wait
echo told(T\php(<<<'PHP'
    set_error_handler(function ($number, $message, $file, $line) {
        Async\delay(2);
        echo $number === E_WARNING ? 'handler: ' : 'OTHER', $line, "\n";
    });
    Async\spawn(fn() => 1);
    $held = Async\spawn(fn() => 2);
    PHP, $on));
echo told(T\php(<<<'PHP'
    set_error_handler(fn($n, $message) => throw new ErrorException('thrown'));
    Async\spawn(fn() => 1);
    PHP, $on . ' -d display_errors=1 -d log_errors=0'));

// lost
echo told(T\php('$c = Async\spawn(fn() => Async\delay(600_000)); Async\spawn(fn() => Async\await($c)); Async\delay(5); exit(3);', $on));
echo told(T\php('Async\spawn(fn() => Async\delay(600_000)); Async\spawn(function () { Async\delay(5); exit(4); });', $on));
?>
--EXPECTF--
awaited:  [0]

Warning: Coroutine #2 spawned at FILE:2 in the global scope has ended and was never awaited: await it, or spawn it in a Scope in FILE on line 2

Warning: Coroutine #4 spawned at FILE:4 in the global scope has ended and was never awaited: await it, or spawn it in a Scope in FILE on line 4
end

Warning: Coroutine #3 spawned at FILE:3 in the global scope has ended and was never awaited: await it, or spawn it in a Scope in FILE on line 3 [0]

off: end [0]

handler: 6
handler: 7 [0]

Fatal error: Uncaught ErrorException: thrown in FILE:2
Stack trace:
%A{main}
  thrown in FILE on line 2 [255]

Warning: Coroutine #3 spawned at FILE:2 in the global scope is lost by exit and is not awaited: await it before, or cancel it in FILE on line 2 [3]

Warning: Coroutine #2 spawned at FILE:2 in the global scope is lost by exit and is not awaited: await it before, or cancel it in FILE on line 2 [4]
