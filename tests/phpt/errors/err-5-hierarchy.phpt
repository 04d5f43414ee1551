--TEST--
ERR-5 the classes of errors and what they extend
--FILE--
<?php
foreach (['AsyncException', 'AwaitCancelledException', 'TimeoutException', 'CancellationException', 'CompositeException', 'DeadlockError'] as $name) {
    $class = new ReflectionClass("Async\\$name");
    echo $class->getName(), ' extends ', $class->getParentClass()->getName(), "\n";
    $e = $class->newInstance('message', 3, $previous = new Exception);
    if ([$e->getMessage(), $e->getCode(), $e->getPrevious(), $e->getLine()] !== ['message', 3, $previous, __LINE__ - 1]) {
        echo "not like an exception\n";
    }
}
var_dump((new Async\CompositeException)->getExceptions());
var_dump(is_subclass_of(Async\Coroutine::class, Async\Awaitable::class), (new ReflectionClass('Async\Awaitable'))->isInterface());
?>
--EXPECT--
Async\AsyncException extends Exception
Async\AwaitCancelledException extends Async\AsyncException
Async\TimeoutException extends Async\AwaitCancelledException
Async\CancellationException extends Exception
Async\CompositeException extends Exception
Async\DeadlockError extends Error
array(0) {
}
bool(true)
bool(true)
