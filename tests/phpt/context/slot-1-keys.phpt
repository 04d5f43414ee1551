--TEST--
SLOT-1 keys are strings as they are, and objects by identity; what is none is a TypeError
--FILE--
<?php
use Async\Key;
use function Async\localContext;

require __DIR__ . '/kit.inc';

$context = localContext();
$one = new Key('same');
$two = new Key('same');
$context->set('1', 'one')->set('01', 'zero one')->set('', 'empty')->set("a\0b", 'zero byte')->set('same', 'a string');
$context->set($one, 'first')->set($two, 'second')->set($object = new stdClass, 'an object');
foreach (['1', '01', '', "a\0b", 'same', $one, $two, $object] as $key) {
    echo $context->get($key), ', ';
}
echo "\n";
var_dump($context->has('a'), $context->has(new Key('same')), $context->has('Async\Key'), $context->find(clone $object));
$context->set(fn() => 1, 'gone at once');

foreach (['find', 'get', 'has', 'findLocal', 'getLocal', 'hasLocal', 'set', 'unset'] as $method) {
    foreach ([[], STDIN] as $wrong) {
        try {
            $context->$method(...($method === 'set' ? [$wrong, 1] : [$wrong]));
            echo "$method takes it\n";
        } catch (TypeError $e) {
            T\check("$method", get_class($e) === 'TypeError', $e->getMessage());
        }
    }
}
foreach ([fn() => $context->set('k'), fn() => $context->get()] as $call) {
    try {
        $call();
    } catch (ArgumentCountError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
one, zero one, empty, zero byte, a string, first, second, an object, 
bool(false)
bool(false)
bool(false)
NULL
find: yes
find: yes
get: yes
get: yes
has: yes
has: yes
findLocal: yes
findLocal: yes
getLocal: yes
getLocal: yes
hasLocal: yes
hasLocal: yes
set: yes
set: yes
unset: yes
unset: yes
Async\Context::set() expects at least 2 arguments, 1 given
Async\Context::get() expects exactly 1 argument, 0 given
