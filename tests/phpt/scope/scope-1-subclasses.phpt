--TEST--
SCOPE-1 subclasses: properties, inherit() of the class that is named, what cannot be copied
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{BoundedScope, CoroutineGroup, Lifetime, Scope};
use function Async\{await, delay, timeout};

class Jobs extends Scope
{
    public array $done = ['none'];
    public readonly int $limit;

    public function __construct(public string $name = 'jobs')
    {
        parent::__construct(Lifetime::TopDown);
        $this->limit = 4;
    }

    public function add(string $job): void
    {
        $this->spawn(function() use ($job) { $this->done[] = $job; });
    }
}
class Limited extends BoundedScope
{
    public $property = 'default';
}
abstract class Incomplete extends Scope {}

$jobs = new Jobs('mine');
$jobs->add('one');
var_dump(await($jobs), $jobs->done, $jobs->name, $jobs->limit);
$parent = new Scope(Lifetime::BottomUp);
$kinds = [
    'Jobs::inherit()' => fn() => Jobs::inherit(), 'Limited::inherit($parent)' => fn() => Limited::inherit($parent),
    'BoundedScope::inherit()' => fn() => BoundedScope::inherit($parent), 'of an object' => fn() => (new Limited)->inherit($parent),
    'call_user_func' => fn() => call_user_func('Limited::inherit', $parent), 'closure' => fn() => (Limited::inherit(...))($parent),
    'reflection' => fn() => (new ReflectionMethod('Limited', 'inherit'))->invoke(null, $parent),
    'abstract' => fn() => Incomplete::inherit(),
];
foreach ($kinds as $name => $kind) {
    attempt($name, $kind);
}
$limited = Limited::inherit($parent);
var_dump($limited->property, $parent->getChildScopes() === [$limited]);
attempt('a bound', fn() => $limited->withTimeout(5000)->boundedBy(timeout(60_000))->getBoundsInfo()['timeout']);
attempt('await', fn() => await($limited));
foreach ([new Scope, new Limited, new CoroutineGroup] as $object) {
    attempt('clone', fn() => clone $object);
    attempt('serialize', fn() => serialize($object));
    $class = get_class($object);
    attempt('unserialize', fn() => unserialize('O:' . strlen($class) . ":\"$class\":0:{}"));
}
foreach (['class A implements Async\Awaitable {}', 'enum A implements Async\Awaitable {}', 'class A extends Async\Scope implements Async\Awaitable {}',
    'interface I extends Async\Awaitable {} class A implements I {}', 'new class implements Async\Awaitable {};',
    'class A extends Async\CoroutineGroup {}', 'class A extends Async\BoundedScope implements Async\Awaitable {}'] as $code) {
    $ended = T\php("$code\necho 'accepted';");
    echo $code, ' ', preg_match('~Class .* cannot (implement|extend)|accepted~', $ended->output, $m) ? $m[1] ?? 'is accepted' : $ended, "\n";
}
?>
--EXPECT--
NULL
array(2) {
  [0]=>
  string(4) "none"
  [1]=>
  string(3) "one"
}
string(4) "mine"
int(4)
Jobs::inherit(): Jobs
Limited::inherit($parent): Limited
BoundedScope::inherit(): Async\BoundedScope
of an object: Limited
call_user_func: Limited
closure: Limited
reflection: Limited
abstract: Error: Cannot instantiate abstract class Incomplete
string(7) "default"
bool(true)
a bound: 5000
await: null
clone: Error: Trying to clone an uncloneable object of class Async\Scope
serialize: Exception: Serialization of 'Async\Scope' is not allowed
unserialize: Exception: Unserialization of 'Async\Scope' is not allowed
clone: Error: Trying to clone an uncloneable object of class Limited
serialize: Exception: Serialization of 'Limited' is not allowed
unserialize: Exception: Unserialization of 'Limited' is not allowed
clone: Error: Trying to clone an uncloneable object of class Async\CoroutineGroup
serialize: Exception: Serialization of 'Async\CoroutineGroup' is not allowed
unserialize: Exception: Unserialization of 'Async\CoroutineGroup' is not allowed
class A implements Async\Awaitable {} implement
enum A implements Async\Awaitable {} implement
class A extends Async\Scope implements Async\Awaitable {} implement
interface I extends Async\Awaitable {} class A implements I {} implement
new class implements Async\Awaitable {}; implement
class A extends Async\CoroutineGroup {} extend
class A extends Async\BoundedScope implements Async\Awaitable {} is accepted
