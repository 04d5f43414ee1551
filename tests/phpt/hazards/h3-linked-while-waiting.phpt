--TEST--
H3 a class whose linking waits in an error handler is not missing to others
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

T\work_in(['Jar.php' => '<?php class Jar implements ArrayAccess, IteratorAggregate {
    function offsetExists($o) {} function offsetGet($o) {} function offsetSet($o, $v) {} function offsetUnset($o) {} function getIterator() {} }
    class Lid extends Jar { function offsetGet($o) {} }']);
set_error_handler(function() { suspend(); usleep(500); return true; });
spl_autoload_register(function(string $c) { suspend(); if (is_file("$c.php")) require_once "$c.php"; });
$jobs = [];
for ($i = 0; $i < 4; $i++) $jobs[] = spawn(fn() => get_class(new Jar));
echo implode(' ', T\all($jobs)), "\n";
// declared without an autoloader being asked for it
$code = fn(string $name) => "class $name implements ArrayAccess { function offsetExists(\$o) {} function offsetGet(\$o) {} function offsetSet(\$o, \$v) {} function offsetUnset(\$o) {} }";
$goes_on = false;
$declares = spawn(function() use ($code, &$goes_on) {
    set_error_handler(function() use (&$goes_on) { while (!$goes_on) suspend(); return true; });
    eval('if (true) { ' . $code('Direct') . '}');
});
T\begun($declares);
$uses = [spawn(fn() => get_class(new Direct)), spawn(fn() => class_exists('Direct') ? 'there' : 'missing'), spawn(fn() => is_subclass_of('Direct', 'ArrayAccess') ? 'linked' : 'not')];
T\begun(...$uses);
$goes_on = true;
echo implode(' ', T\all($uses)), "\n";
?>
--EXPECT--
Jar Jar Jar Jar
Direct there linked
