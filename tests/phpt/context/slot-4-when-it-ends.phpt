--TEST--
SLOT-4 a context is cleared when its coroutine ends, however it ends, before awaiters are woken; also one that is held
--FILE--
<?php
use Async\Key;
use function Async\{await, delay, localContext, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Value
{
    public function __construct(private string $name) {}
    public function __destruct() { echo "$this->name is released\n"; }
}

$key = new Key;
function keeps(string $name): void
{
    localContext()->set('value', new Value($name))->set($GLOBALS['key'], new Value("$name (key)"));
}

$endings = [
    'returned' => [fn() => keeps('returned'), fn() => null],
    'failed' => [function() { keeps('failed'); throw new RuntimeException('failed'); }, fn() => null],
    'cancelled' => [function() { keeps('cancelled'); delay(600_000); }, fn($job) => $job->cancel()],
];
foreach ($endings as $name => [$body, $then]) {
    $job = spawn($body);
    $context = $job->getContext();
    $waiter = spawn(function() use ($job) { $e = T\failure($job); echo $e ? get_class($e) : 'a result', "\n"; });
    T\begun($job, $waiter);
    $then($job);
    await($waiter);
    var_dump($context->has('value'), $context->has($key), $job->getContext() === $context);
}

// one that never starts
$job = spawn(fn() => 1);
$job->getContext()->set('value', new Value('never started'));
$job->cancel();
T\failure($job);
echo "awaited\n";
unset($job);

// what the body leaves is gone before the values are
await(spawn(function() {
    localContext()->set('logger', 'the logger');
    $object = new class { public function __destruct() { echo localContext()->get('logger'), "\n"; } };
}));

// destructors use what is their own: the context, output buffers
$output = await(spawn(function() {
    $seen = new ArrayObject;
    await(spawn(function() use ($seen) {
        ob_start(function($text) use ($seen) { $seen[] = $text; return ''; });
        localContext()->set('value', new Value('in its own buffer'));
    }));
    return $seen[0];
}));
T\check('the buffer', $output === "in its own buffer is released\n", $output);

// kept again by a destructor
final class Again
{
    public static int $made = 0;
    public function __construct(private int $times) { self::$made++; }
    public function __destruct() { if ($this->times) localContext()->set('again', new Again($this->times - 1)); }
}
await($job = spawn(function() { localContext()->set('again', new Again(2)); }));
var_dump(Again::$made, $job->getContext()->has('again'));

// afterwards it is a place like any other, for whoever holds it
$job->getContext()->set('after', new Value('what was set after the end'));
var_dump($job->getContext()->has('after'));
unset($job);
echo "the end\n";
?>
--EXPECT--
returned is released
returned (key) is released
a result
bool(false)
bool(false)
bool(true)
failed is released
failed (key) is released
RuntimeException
bool(false)
bool(false)
bool(true)
cancelled is released
cancelled (key) is released
Async\CancellationException
bool(false)
bool(false)
bool(true)
never started is released
awaited
the logger
the buffer: yes
int(3)
bool(false)
bool(true)
what was set after the end is released
the end
