--TEST--
SLOT-3 Key: readonly, a description, a string for those who want one
--FILE--
<?php
use Async\Key;

$key = new Key('request id');
var_dump($key, "$key", (string) new Key, $key->description, $key == new Key('request id'), $key === $key);
$ways = [
    'write' => fn() => $key->description = 'x',
    'constructor again' => fn() => $key->__construct('x'),
    'dynamic' => fn() => $key->other = 1,
    'unset' => function() use ($key) { unset($key->description); },
    'array' => fn() => new Key([]),
    'extend' => fn() => (new ReflectionClass(Key::class))->isFinal() ? throw new Error : 0,
];
foreach ($ways as $name => $way) {
    try {
        $way();
        echo "$name: allowed\n";
    } catch (Error $e) {
        echo "$name: ", get_class($e), "\n";
    }
}
var_dump($key->description);
try {
    (new ReflectionClass(Key::class))->newInstanceWithoutConstructor();
} catch (ReflectionException $e) {
    echo get_class($e), "\n";
}
var_dump($key instanceof Stringable);
?>
--EXPECTF--
object(Async\Key)#%d (1) {
  ["description"]=>
  string(10) "request id"
}
string(10) "request id"
string(0) ""
string(10) "request id"
bool(false)
bool(true)
write: Error
constructor again: Error
dynamic: Error
unset: Error
array: TypeError
extend: Error
string(10) "request id"
ReflectionException
bool(true)
