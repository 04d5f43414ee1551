--TEST--
CORO-13 the current coroutine of shutdown functions and destructors after them is main, whoever ended last
--FILE--
<?php
use function Async\{currentCoroutine, delay, onFinally, spawn};

$main = currentCoroutine();
$held = spawn(fn() => delay(10));
spawn(fn() => delay(5));
spawn(fn() => delay(15));
final class AtTheEnd
{
    public function __destruct() { var_dump(currentCoroutine() === $GLOBALS['main']); }
}
$object = new AtTheEnd;
register_shutdown_function(function() {
    var_dump(currentCoroutine() === $GLOBALS['main'], currentCoroutine()->isCompleted());
    onFinally(fn() => print("NOT REACHED\n"));
});
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
