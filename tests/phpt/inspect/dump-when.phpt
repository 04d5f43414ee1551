--TEST--
dump() before the first spawn, in a coroutine, in an output buffer, and in shutdown functions, after the end and after exit
--FILE--
<?php
use function Async\{await, delay, dump, spawn};

require __DIR__ . '/kit.inc';

dump();
await(spawn(function () {
    ob_start();
    dump();
    echo strtoupper(preg_replace('~(/[^: ]*)?/~', '', ob_get_clean()));
}));
$code = <<<'PHP'
    register_shutdown_function('Async\dump');
    $coroutine = Async\spawn(fn() => Async\delay(200));
    $scope = new Async\Scope;
    PHP;
echo T\php($code)->output;
echo T\php('register_shutdown_function("Async\dump");')->output;
$ended = T\php("$code\nwhile (!\$coroutine->isSuspended()) Async\\suspend();\nexit;");
echo preg_replace('~at /\S*:~', 'at FILE:', $ended->output);
?>
--EXPECTF--
Async\dump: 1 coroutine in 1 scope
global scope, lifetime scope, open: 1 coroutine
  #1 running, the script itself
ASYNC\DUMP: 2 COROUTINES IN 1 SCOPE
GLOBAL SCOPE, LIFETIME SCOPE, OPEN: 2 COROUTINES
  #1 SUSPENDED, THE SCRIPT ITSELF, SUSPENDED AT DUMP-WHEN.PHP:7, WAITS IN AWAIT() OF COROUTINE #2 FOR %d.%d S
  #2 RUNNING, SPAWNED AT DUMP-WHEN.PHP:7
Async\dump: no coroutine is left
Async\dump: no coroutine is left
Async\dump: 1 coroutine in 2 scopes, and none of them runs again
global scope, lifetime scope, open: 1 coroutine
  #2 abandoned, spawned at FILE:3, suspended at FILE:3, waits in delay() for %d.%d s
Scope created at FILE:4, lifetime scope, open: 0 coroutines
