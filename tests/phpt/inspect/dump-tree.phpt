--TEST--
dump() prints the scopes, those below them indented, with their coroutines and what each waits for
--FILE--
<?php
use Async\{BoundedScope, CoroutineGroup, Lifetime, Scope};
use function Async\{await, awaitChildren, delay, dump, spawn, timeout};

require __DIR__ . '/kit.inc';

set_error_handler(fn() => true); // disposeSafely() warns
[$socket, $other] = T\pair();
$slow = spawn(fn() => delay(600_000));
spawn(fn() => await($slow, timeout(60_000)));
$group = new CoroutineGroup;
$group->spawn(fn() => usleep(600_000_000));
$group->add($slow);
spawn(fn() => await($group));
spawn(fn() => fgets($socket));
$bottom = new BoundedScope(Lifetime::BottomUp);
$bottom->spawn(function () {
    spawn(fn() => delay(600_000));
});
$outer = new Scope(Lifetime::TopDown);
$inner = Scope::inherit($outer);
$outer->spawn(function () {
    spawn(fn() => delay(600_000));
    awaitChildren();
});
$inner->spawn(fn() => await($bottom));
$disposed = new Scope;
$disposed->spawn(fn() => delay(600_000));
$unused = new Scope;
T\until(fn() => count($bottom->getCoroutines()) === 2 && count($outer->getCoroutines()) === 2);
delay(20);
$disposed->disposeSafely();
dump();
exit;
?>
--EXPECTF--
Async\dump: 12 coroutines in 6 scopes
global scope, lifetime scope, open: 6 coroutines
  #1 running, the script itself
  #2 suspended, spawned at %sdump-tree.php:9, suspended at %sdump-tree.php:9, waits in delay() for %d.%d s
  #3 suspended, spawned at %sdump-tree.php:10, suspended at %sdump-tree.php:10, waits in await() of coroutine #2 for %d.%d s
  #4 suspended, spawned at %sdump-tree.php:12, suspended at %sdump-tree.php:12, waits in usleep() for %d.%d s
  #5 suspended, spawned at %sdump-tree.php:14, suspended at %sdump-tree.php:14, waits in await() of coroutines #2, #4 for %d.%d s
  #6 suspended, spawned at %sdump-tree.php:15, suspended at %sdump-tree.php:15 in fgets(), waits in poll() on descriptor %d for %d.%d s
BoundedScope created at %sdump-tree.php:16, lifetime bottom-up, open: 2 coroutines
  #7 ending, spawned at %sdump-tree.php:17, waits for coroutine #%d
  #%d suspended, spawned at %sdump-tree.php:18, suspended at %sdump-tree.php:18, waits in delay() for %d.%d s
Scope created at %sdump-tree.php:20, lifetime top-down, open: 2 coroutines
  #8 suspended, spawned at %sdump-tree.php:22, suspended at %sdump-tree.php:24, waits in awaitChildren() of coroutine #%d for %d.%d s
  #%d suspended, spawned at %sdump-tree.php:23, suspended at %sdump-tree.php:23, waits in delay() for %d.%d s
  Scope created at %sdump-tree.php:21, lifetime top-down, open: 1 coroutine
    #9 suspended, spawned at %sdump-tree.php:26, suspended at %sdump-tree.php:26, waits in await() of the scope created at %sdump-tree.php:16 for %d.%d s
Scope created at %sdump-tree.php:27, lifetime scope, disposed: 1 coroutine
  #10 suspended, zombie, spawned at %sdump-tree.php:28, suspended at %sdump-tree.php:28, waits in delay() for %d.%d s
Scope created at %sdump-tree.php:29, lifetime scope, open: 0 coroutines
