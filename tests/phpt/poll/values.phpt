--TEST--
A value that is given with a stream is what a wait of Async\Poll returns for it, while the stream is open
--FILE--
<?php
require __DIR__ . '/kit.inc';

$poll = new Async\Poll;
[$a, $b] = pair();
$show = fn() => print(json_encode(array_map(fn(array $found) => array_map(fn($value) => match (true) {
    $value === $GLOBALS['a'] => is_resource($value) ? 'stream a' : 'closed a',
    is_object($value) => get_class($value),
    default => $value,
}, array_values($found)), array_slice($poll->wait(1), 0, 2))) . "\n");

class Ended
{
    public function __construct(private ?Closure $then = null) {}

    public function __destruct()
    {
        echo "released\n";
        $this->then && ($this->then)();
    }
}

fwrite($b, 'x');
$poll->watchRead($a, 'read');
$poll->watchWrite($a, ['write', 1]);
$show();
$poll->watchRead($a, 0);
$show();
$poll->watchRead(value: null, stream: $a);
$poll->watchWrite($a, false);
$show();
$poll->watchWrite($a);
$show();

// It is kept for as long as it may be returned, and no longer.
$poll->watchRead($a, new Ended);
$poll->watchWrite($a, new Ended);
$show();
$poll->watchRead($a, 'another');
$poll->unwatchWrite($a);
$poll->watchRead($a, new Ended(fn() => $poll->watchRead($GLOBALS['a'], 'by a destructor')));
$poll->unwatchRead($a);
$show();

// Its destructor may throw, and has changed what it has.
$poll->watchRead($a, new Ended(fn() => throw new Exception('thrown by a destructor')));
echo refused(fn() => $poll->watchRead($a, 'after it')), "\n";
$show();
$poll->watchRead($a, new Ended(fn() => throw new Exception('thrown by a destructor')));
echo refused(fn() => $poll->unwatchRead($a)), "\n";
$poll->watchWrite($b, 'only b');
$show();
$poll->unwatchWrite($b);

// A stream that was closed is returned itself.
$poll->watchRead($a, 'open');
$poll->watchWrite($a, 'open');
$show();
fclose($a);
$show();
echo refused(fn() => $poll->watchRead($a, 'open')), "\n";
$show();
$poll->unwatchRead($a);
$poll->unwatchWrite($a);

// Cycles are collected.
[$c, $d] = pair();
$cycle = new Async\Poll;
$cycle->watchRead($c, [$cycle, new Ended]);
$cycle->watchWrite($c, [$cycle, new Ended]);
unset($cycle);
var_dump(gc_collect_cycles() > 0);
?>
--EXPECT--
[["read"],[["write",1]]]
[[0],[["write",1]]]
[["stream a"],[false]]
[["stream a"],["stream a"]]
[["Ended"],["Ended"]]
released
released
released
[["by a destructor"],[]]
released
Exception: thrown by a destructor
[["after it"],[]]
released
Exception: thrown by a destructor
[[],["only b"]]
[["open"],["open"]]
[["closed a"],["closed a"]]
TypeError: Async\Poll::watchRead(): Argument #1 ($stream) must be an open stream resource
[["closed a"],["closed a"]]
released
released
bool(true)
