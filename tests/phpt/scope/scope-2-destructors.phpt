--TEST--
SCOPE-2 destructors of scopes use the scope, wait, spawn, fail
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Lifetime, Scope};
use function Async\{await, delay, suspend, timeout};

class Own extends Scope
{
    public function __destruct()
    {
        attempt('finished', fn() => $this->isFinished());
        attempt('spawn', fn() => await($this->spawn(fn() => T\turns(5))));
        attempt('wait', fn() => $this->awaitCompletion(timeout(1)));
        attempt('value', fn() => $this->get('key'));
    }
}
foreach (Lifetime::cases() as $lifetime) {
    echo "$lifetime->name\n";
    $scope = new Own($lifetime);
    $scope->set('key', 'value');
    $scope->spawn(fn() => works('member', 250));
    suspend();
    T\turns(1);
    set_error_handler(fn() => true);
    unset($scope);
    restore_error_handler();
    T\turns(400);
}
?>
--EXPECT--
Scope
finished: false
spawn: null
wait: Async\TimeoutException: The wait was given up after 1 ms
value: "value"
member has worked
TopDown
finished: false
spawn: null
wait: Async\TimeoutException: The wait was given up after 1 ms
value: "value"
member is cancelled
BottomUp
finished: false
spawn: null
wait: Async\TimeoutException: The wait was given up after 1 ms
value: "value"
member has worked
