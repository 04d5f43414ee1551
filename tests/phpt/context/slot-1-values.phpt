--TEST--
SLOT-1 values: null is one, a taken key is not overwritten by accident, a copy is kept
--FILE--
<?php
use Async\Key;
use function Async\localContext;

require __DIR__ . '/kit.inc';

function fails(callable $action): void
{
    try {
        $action();
        echo "no exception\n";
    } catch (Async\ContextException $e) {
        echo $e->getMessage(), "\n";
    }
}

$context = localContext();
$context->set('null', null);
var_dump($context->has('null'), $context->find('null'), $context->get('null'), $context->has('nothing'));
fails(fn() => $context->set('null', 1));
fails(fn() => $context->get('nothing'));
foreach ([new Key('d'), new Key, new stdClass] as $key) {
    fails(fn() => $context->getLocal($key));
    $context->set($key, 1);
    fails(fn() => $context->set($key, 2));
    var_dump($context->set($key, 3, true)->get($key), $context->unset($key)->unset($key)->has($key));
}

$array = [1];
$reference = &$array[0];
$context->set('array', $array);
$array[] = 2;
var_dump(count($context->get('array')));
call_user_func_array([$context, 'set'], ['by', &$array]);
$array = 'changed';
var_dump(count($context->get('by')));

// more than any table holds at first, in both tables, with removals in between and values replaced
$keys = [];
for ($i = 0; $i < 1000; $i++) {
    $context->set("n$i", $i)->set($keys[$i] = new Key, $i);
    if ($i % 3 === 0) $context->unset("n$i")->unset($keys[$i]);
    else $context->set("n$i", -$i, true)->set($keys[$i], -$i, true);
    if ($i % 7 === 0) unset($keys[$i]);
}
$wrong = 0;
for ($i = 0; $i < 1000; $i++) {
    $wrong += $context->find("n$i") !== ($i % 3 ? -$i : null);
    $wrong += isset($keys[$i]) && $context->find($keys[$i]) !== ($i % 3 ? -$i : null);
    $wrong += $context->has("m$i");
}
var_dump($wrong);
?>
--EXPECT--
bool(true)
NULL
NULL
bool(false)
The key "null" is taken. Pass true as the third argument to replace its value
The key "nothing" has no value. Use find() or has() where it may be missing
The key "d" (an Async\Key) has no value. Use find() or has() where it may be missing
The key "d" (an Async\Key) is taken. Pass true as the third argument to replace its value
int(3)
bool(false)
This key has no value. Use find() or has() where it may be missing
This key is taken. Pass true as the third argument to replace its value
int(3)
bool(false)
This key of the class stdClass has no value. Use find() or has() where it may be missing
This key of the class stdClass is taken. Pass true as the third argument to replace its value
int(3)
bool(false)
int(1)
int(2)
int(0)
