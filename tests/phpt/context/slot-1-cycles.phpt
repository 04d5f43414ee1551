--TEST--
SLOT-1 cycles through a context are collected when nobody holds the coroutine; values of a running one stay
--FILE--
<?php
use Async\Key;
use function Async\{await, delay, localContext, spawn, suspend};

final class Value
{
    public static int $gone = 0;
    public mixed $other;
    public function __destruct() { self::$gone++; }
}

function knot(Async\Context $context): Value
{
    $value = new Value;
    $value->other = $context;
    return $value;
}

// made for coroutines that have ended, whose contexts are what their owner makes of them
for ($i = 0; $i < 10; $i++) {
    $job = spawn(fn() => 1);
    await($job);
    $context = $job->getContext();
    $context->set('knot', knot($context))->set(new Key, 'gone');
    $key = new Key;
    $context->set($key, [knot($context)])->set('job', $job)->set('weak', WeakReference::create($context));
}
unset($job, $context, $key);
gc_collect_cycles();
var_dump(Value::$gone);

// of one that runs: its own only reference is the runtime's
$gone = Value::$gone;
$found = spawn(function() {
    $context = localContext();
    $context->set('knot', knot($context))->set('self', Async\currentCoroutine());
    unset($context);
    suspend();
    gc_collect_cycles();
    return [localContext()->get('knot')->other === localContext(), localContext()->get('self') === Async\currentCoroutine()];
});
suspend();
gc_collect_cycles();
var_dump(await($found), Value::$gone - $gone);

// of one that waits, and is held by its own context only
$gone = Value::$gone;
spawn(function() {
    localContext()->set('self', [Async\currentCoroutine(), knot(localContext())]);
    delay(20);
    echo "not collected\n";
});
suspend();
gc_collect_cycles();
var_dump(Value::$gone - $gone);
while (count(Async\getCoroutines()) > 1) suspend();
var_dump(Value::$gone - $gone);
?>
--EXPECT--
int(20)
array(2) {
  [0]=>
  bool(true)
  [1]=>
  bool(true)
}
int(1)
int(0)
not collected
int(1)
