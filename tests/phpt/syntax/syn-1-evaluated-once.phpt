--TEST--
SYN-1 the callee is evaluated before the arguments, each part once and in the order of the source; what throws on the way leaves nothing behind
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\getCoroutines;

final class Part
{
    public array $calls = [];
    public static int $alive = 0;
    public function __construct() { self::$alive++; }
    public function __destruct() { self::$alive--; }
    public function __get($name) { say("->$name"); return $this; }
    public function part($name) { say("part $name"); return $this; }
    public function takes(...$all) { say('called'); return count($all); }
    public static function statically(...$all) { say('called'); return count($all); }
    public function closure() { say('closure'); return fn(...$all) => say('called'); }
}
function part() { say('part'); return new Part; }
function callee() { say('callee'); return fn(...$all) => say('called'); }
function throws($what = 'x') { throw new DomainException($what); }
function list_of($x) { say($x); return [$x]; }

$class = 'Part';
$name = 'takes';
foreach ([
    'part()->takes(say(1), say(2))', 'part()->part(say(0))->takes(say(1))', 'part()->a->b->takes(say(1))', 'part()->{say("takes")}(say(1))', 'part()::statically(say(1))', 'part()->a->closure()(say(1))', 'part()?->a?->takes(say(1))', 'part()?->closure()(say(1))', 'callee()(say(1), say(2))', '$class::{say("statically")}(say(1))', '$list[say(0)][say(1)](say(2))', 'part()->takes(...list_of(1), ...list_of(2))', 'part()->takes(b: say(1), a: say(2))', 'part()->takes(await spawn part()->takes(say(1)), say(2))',
] as $call) {
    $said = [];
    $list = [[1 => fn() => say('called')]];
    $c = eval("return spawn $call;");
    say('|');
    await $c;
    echo $call, "\n    ", str_replace(['evaluated ', '"'], '', implode(' ', $said)), "\n";
}
unset($c);
echo Part::$alive, " left\n";

// what was evaluated before the exception is let go; nothing was made
$kept = new Part;
foreach ([
    'throws()->takes(new Part)', 'part()->{throws()}(new Part)', 'part()->takes(new Part, throws())', 'part()->takes(a: new Part, b: throws())', 'part()->takes(...[new Part], ...throws())', 'part()?->takes(new Part, throws())', 'part()->takes(new Part, ...(function () { yield new Part; yield throws(); })())', 'part()->takes($kept, throws())', 'Part::statically(new Part, await spawn throws())', 'array_multisort($kept->calls, throws())', 'part()->takes(spawn throws("inner"), throws("outer"))', 'part()->no_such(new Part)', 'strrev(zz: new Part)', 'part()->takes(1, ...["a" => new Part], a: 2)',
] as $call) {
    try {
        eval("spawn $call;");
        echo "$call: nothing thrown\n";
    } catch (Throwable $e) {
        echo "$call: ", said($e);
        unset($e);
        gc_collect_cycles();
        // one that was spawned for an argument goes its own way
        $others = array_slice(getCoroutines(), 1);
        foreach ($others as $other) T\failure($other);
        unset($others, $other);
        echo ', ', Part::$alive, " alive\n";
    }
}
// the exit of an argument is an exit
echo T\php('register_shutdown_function(fn() => print("bye\n")); spawn strrev(exit(3)); echo "not reached";'), "\n";
?>
--EXPECT--
part()->takes(say(1), say(2))
    part 1 2 | called
part()->part(say(0))->takes(say(1))
    part 0 part 0 1 | called
part()->a->b->takes(say(1))
    part ->a ->b 1 | called
part()->{say("takes")}(say(1))
    part takes 1 | called
part()::statically(say(1))
    part 1 | called
part()->a->closure()(say(1))
    part ->a closure 1 | called
part()?->a?->takes(say(1))
    part ->a 1 | called
part()?->closure()(say(1))
    part closure 1 | called
callee()(say(1), say(2))
    callee 1 2 | called
$class::{say("statically")}(say(1))
    statically 1 | called
$list[say(0)][say(1)](say(2))
    0 1 2 | called
part()->takes(...list_of(1), ...list_of(2))
    part 1 2 | called
part()->takes(b: say(1), a: say(2))
    part 1 2 | called
part()->takes(await spawn part()->takes(say(1)), say(2))
    part part 1 called 2 | called
0 left
throws()->takes(new Part): DomainException: x, 1 alive
part()->{throws()}(new Part): DomainException: x, 1 alive
part()->takes(new Part, throws()): DomainException: x, 1 alive
part()->takes(a: new Part, b: throws()): DomainException: x, 1 alive
part()->takes(...[new Part], ...throws()): DomainException: x, 1 alive
part()?->takes(new Part, throws()): DomainException: x, 1 alive
part()->takes(new Part, ...(function () { yield new Part; yield throws(); })()): DomainException: x, 1 alive
part()->takes($kept, throws()): DomainException: x, 1 alive
Part::statically(new Part, await spawn throws()): DomainException: x, 1 alive
array_multisort($kept->calls, throws()): DomainException: x, 1 alive
part()->takes(spawn throws("inner"), throws("outer")): DomainException: outer, 1 alive
part()->no_such(new Part): Error: Call to undefined method Part::no_such(), 1 alive
strrev(zz: new Part): Error: Unknown named parameter $zz, 1 alive
part()->takes(1, ...["a" => new Part], a: 2): Error: Named parameter $a overwrites previous argument, 1 alive
[3] bye
