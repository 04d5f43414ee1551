--TEST--
SLOT-1 a key object is held weakly: its value goes with it, also from several contexts, and while a destructor uses them
--FILE--
<?php
use function Async\{await, delay, localContext, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Value
{
    public function __construct(private string $name, private ?Closure $then = null) {}
    public function __destruct()
    {
        echo "$this->name is released\n";
        $this->then && ($this->then)();
    }
}

$context = localContext();
$key = new stdClass;
$weak = WeakReference::create($key);
$context->set($key, new Value('the value'));
unset($key);
echo "the key is gone\n";
var_dump($weak->get());

// a key that is let go by unset() of its value stays usable
$key = new stdClass;
$context->set($key, new Value('a'))->unset($key)->set($key, new Value('b'));
var_dump($context->has($key));
$context->set($key, 0, true);

// the value's destructor uses the context while the engine removes the entry
$context->set($key, new Value('busy', function() use ($context) {
    for ($i = 0; $i < 100; $i++) $context->set("n$i", $i)->set($keys[] = new stdClass, $i);
    $context->unset('n7');
}), true);
unset($key);
var_dump($context->get('n99'), $context->has('n7'));

// a value that holds the key of another one
$first = new stdClass;
$second = new stdClass;
$context->set($second, new Value('second'))->set($first, [$second, new Value('first')]);
unset($second);
echo "not yet\n";
unset($first);

// several contexts know the key. The first one's value waits while the others' coroutines end
$keep = [];
$key = new stdClass;
$context->set($key, new Value('that of main', function() { suspend(); T\turns(60); }));
$jobs = [];
for ($i = 0; $i < 3; $i++) {
    $jobs[] = spawn(function() use ($i) {
        localContext()->set($GLOBALS['key'], new Value("that of $i"))->set('other', str_repeat('x', $i));
        delay(5 + $i);
    });
}
T\begun(...$jobs);
unset($key);
T\check('the others have ended', !array_filter($jobs, fn($job) => !$job->isCompleted()));
$key = new stdClass;
var_dump($context->has($key), $context->set($key, 'new')->get($key));

// keys in a cycle go when it is collected
$context->set($cycle = new ArrayObject, new Value('of the cycle'));
$cycle[] = $cycle;
unset($cycle);
echo "a cycle\n";
gc_collect_cycles();
?>
--EXPECT--
the value is released
the key is gone
NULL
a is released
bool(true)
b is released
busy is released
int(99)
bool(false)
not yet
second is released
first is released
that of main is released
that of 0 is released
that of 1 is released
that of 2 is released
the others have ended: yes
bool(false)
string(3) "new"
a cycle
of the cycle is released
