--TEST--
CORO-1 what cannot be called is refused by spawn() itself, and leaves no coroutine behind
--FILE--
<?php
use function Async\{getCoroutines, spawn};

abstract class Base
{
    abstract public function todo();
    private function hidden() {}
    public function notStatic() {}
}

$before = count(getCoroutines());
$bad = [
    'no function' => 'no_such_function',
    'no class' => 'NoSuchClass::method',
    'no method' => [new ArrayObject, 'noSuchMethod'],
    'private' => ['Base', 'hidden'],
    'abstract' => ['Base', 'todo'],
    'needs an object' => 'Base::notStatic',
    'half an array' => [new ArrayObject],
    'no closure' => new ArrayObject,
    'number' => 42,
    'null' => null,
    'coroutine' => spawn(fn() => 1),
];
foreach ($bad as $name => $callable) {
    try {
        spawn($callable);
        echo "$name: accepted\n";
    } catch (TypeError $e) {
        echo "$name: ", preg_match('/^Async\\\\spawn\(\): Argument #1 \(\$task\) must be a valid callback/', $e->getMessage()) ? 'ok' : $e->getMessage(), "\n";
    }
}
try {
    spawn();
} catch (ArgumentCountError $e) {
    echo $e->getMessage(), "\n";
}
var_dump(count(getCoroutines()) - $before); // the one good task of the list
?>
--EXPECT--
no function: ok
no class: ok
no method: ok
private: ok
abstract: ok
needs an object: ok
half an array: ok
no closure: ok
number: ok
null: ok
coroutine: ok
Async\spawn() expects at least 1 argument, 0 given
int(1)
