--TEST--
SYN-1 a nullsafe callee: on null there is null and nothing is evaluated; else it is the call itself, with its errors
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\getCoroutines;

class Node
{
    public ?Node $next = null;
    public ?Node $none = null;
    public array $calls = [];
    private $secret;
    public static ?Node $one = null;
    public function __construct(bool $again = true)
    {
        $this->next = $again ? new Node(false) : null;
        $this->calls = ['any' => fn(...$a) => $a, 'ref' => function (&$x) { $x = 'set'; return 'returned'; }, 'five' => 5, 'no' => 'no_such', 'pair' => [$this, 'any'], 'bad' => [$this, 'no_such'], 'static' => 'Node::make', 'missing' => 'Node::no_such', 'instance' => ['Node', 'ANY'], 'object' => new stdClass, 'one' => ['Node']];
    }
    public function any(...$a) { return ['any', static::class, $a]; }
    public function self() { return $this; }
    public function nothing() { return null; }
    public function closure() { return fn(...$a) => ['closure', $a]; }
    public function &reference(&$x, $y = 2) { $x = "reference $y"; return $x; }
    public static function make(...$a) { return ['made', static::class, $a]; }
    private function hidden() {}
    protected function guarded() {}
    public function list($x) { return "list $x"; }
    public function class($x) { return "class $x"; }
    public function fn($x) { return "fn $x"; }
    public function spawn($x) { return "spawn $x"; }
    public function __invoke(&$x = null, ...$a) { $x = 'invoked'; return [$x, $a]; }
    public function evaluate(string $code) { return eval($code); }
}
class Tail extends Node {}
class Magic { public function __call($n, $a) { return [$n, $a]; } public function __get($n) { say("get $n"); return new Node; } }
function make_node() { return new Node; }
function nothing() { say('nothing'); return null; }

$calls = ['$o?->any(say(1))', '$o?->next?->any(say(1))', '$o?->self()->any(say(1))', '$o?->self()?->any(say(1))', '$o?->self(say(0))->self()->any(say(1))', '$o?->{"any"}(say(1))', '$o?->{"a" . "ny"}(1)', '$o?->$name(say(1))', '$o?->{$names["any"]}(1)', '$o?->list(1)', '$o?->class(1)', '$o?->fn(1)', '$o?->spawn(1)', '$o?->ANY(1)',
    '$list["a"]?->any(say(1))', '$list["a"]["b"]?->any(say(1))', 'Node::$one?->any(say(1))', 'Node::$one?->self()?->any(say(1))', '$$variable?->any(1)', '${"o"}?->any(1)', '$o::$one?->any(1)', '"Node"::$one?->any(1)',
    'make_node()?->any(say(1))', 'make_node()?->none?->any(say(1))', 'nothing()?->any(say(1))', '$o?->nothing()?->any(say(1))', '$o?->none?->any(say(1))', '$o?->next?->none?->next?->any(say(1))', '$o?->nothing()?->self()->next->any(say(1))',
    '$o?->reference($z, y: 5)', '$o?->reference(y: 7, x: $z)', '$o?->__invoke($z, 1, b: 2)', '$o?->__invoke(...[1])', '$o?->any(...[1, 2])', '$o?->any(...["a" => 1, "b" => 2])', '$o?->make(1)', '$o?->closure()?->__invoke(say(1), k: 2)', '$o?->calls["any"]?->__invoke(say(1))', '$o?->calls["ref"]?->__invoke($z)', '$o?->closure()->__invoke(1)',
    '$o?->any(make_node()?->any(say(1)), say(2))', "\$o\n ?->any(\n say(1)\n )", '$o /* a */ ?-> /* b */ any /* c */ (say(1))', "\$o?->self() // a\n ->any(say(1))",
    '$o?->no_such(say(1))', '$o?->hidden(say(1))', '$o?->guarded(say(1))', '$o?->self()->no_such(say(1))', '$o?->$five(say(1))', '$o?->$function(say(1))', '$undefined?->any(say(1))', '$five?->any(say(1))', '$name?->any(say(1))', '$m?->any(1, x: 2)', '$m?->property?->any(1)'];
// Nothing is below the ?-> where it is null.
$only_objects = ['$o?->self()($z)', '$o?->calls["any"](say(1), x: 2)', '$o?->calls["ref"]($z)', '$o?->calls["pair"](say(1))', '$o?->calls["static"](say(1))', '$o?->calls["five"](say(1))', '$o?->calls["no"](say(1))', '$o?->calls["bad"](say(1))', '$o?->calls["missing"](say(1))', '$o?->calls["instance"](say(1))', '$o?->calls["object"](say(1))', '$o?->calls["one"](say(1))', 'make_node()?->self()->calls["any"](say(2))', '$o?->closure()(say(1))', '$o?->self()::make(say(1))', '$o?->next->any(say(1))', '$o?->next->next?->any(say(1))', '$o?->next->calls["any"](1)'];
$before = fn($object) => "\$o = $object; Node::\$one = \$o; \$list = ['a' => \$o]; \$name = 'any'; \$names = ['any' => 'any']; \$variable = 'o'; \$z = 'not set'; \$five = 5; \$function = fn() => 1; \$m = \$o ? new Magic : null;";
$case = fn($object) => fn($call) => [$call, $before($object), '$z'];
foreach (['new Node', 'new Tail', 'null'] as $object) {
    same_as_the_call(array_map($case($object), $calls));
}
same_as_the_call(array_map($case('new Node'), $only_objects));
// a method that is not for everybody
same_as_the_call([['$this?->hidden()'], ['$this?->guarded()'], ['$this->next?->hidden()'], ['self::$one?->hidden()']], (new Node)->evaluate(...));

// on null the value is null, no argument is looked at, and there is no coroutine
$o = null;
$x = 'untouched';
$c = [
    spawn $o?->any(say('argument')), spawn $o?->next->next->any(say('argument')), spawn $o?->calls['any'](say('argument')), spawn $o?->self()->closure()(say('argument')),
    spawn $o?->reference($x, y: say('argument')), spawn $o?->__invoke($x), spawn $o?->any(...say([1])), spawn $o?->self()::make(say('argument')), spawn nothing()?->any(await spawn say('argument')),
];
echo json_encode([$c, $x, $said, count(getCoroutines())]), "\n";
?>
--EXPECT--
110 calls, 110 of them are the same when they are spawned
110 calls, 110 of them are the same when they are spawned
110 calls, 110 of them are the same when they are spawned
36 calls, 36 of them are the same when they are spawned
8 calls, 8 of them are the same when they are spawned
[[null,null,null,null,null,null,null,null,null],"untouched",["evaluated \"nothing\""],1]
