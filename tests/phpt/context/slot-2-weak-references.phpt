--TEST--
SLOT-2 a WeakReference as a value is followed; when its object is gone there is a null
--FILE--
<?php
use function Async\localContext;

$context = localContext();
$object = new ArrayObject([1]);
$context->set('weak', WeakReference::create($object))->set($object, WeakReference::create($object));
var_dump($context->find('weak') === $object, $context->getLocal('weak') === $object, $context->get($object) === $object);
$context->set('array', [WeakReference::create($object)]);
var_dump($context->get('array')[0] instanceof WeakReference);
unset($object);
var_dump($context->get('weak'), $context->find('weak'), $context->has('weak'));
try {
    $context->set('weak', 1);
} catch (Async\ContextException) {
    echo "taken\n";
}
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
NULL
NULL
bool(true)
taken
