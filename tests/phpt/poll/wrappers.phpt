--TEST--
Streams of user wrappers in Async\Poll: their code may throw, suspend, close streams, change watches and wait
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{spawn, await, suspend};

final class Wrapper
{
    public static ?Closure $cast = null;
    public static ?Closure $close = null;
    public $context;
    private $inner;
    public function stream_open($path, $mode): bool
    {
        $this->inner = $GLOBALS[substr($path, 7)];
        return true;
    }
    public function stream_cast(int $as)
    {
        return self::$cast ? (self::$cast)($this->inner) : $this->inner;
    }
    public function stream_read(int $count) { return fread($this->inner, $count); }
    public function stream_eof(): bool { return feof($this->inner); }
    public function stream_set_option($option, $a, $b) { return false; }
    public function stream_close(): void { self::$close && (self::$close)(); }
}
stream_wrapper_register('user', Wrapper::class);

[$a, $b] = pair();
[$c, $d] = pair();
$s = fopen('user://a', 'r');
$names = ['a' => $a, 's' => $s, 'c' => $c];
$poll = new Async\Poll;
$poll->watchRead($s);
$poll->watchRead($c);
fwrite($b, "one\ntwo\n");
echo found($poll->wait(), $names), "\n", fgets($s), found($poll->wait(), $names), "\n", fgets($s);
echo found($poll->wait(0), $names), "\n";

fwrite($b, 'x');
fwrite($d, 'x');
echo 'reported: ', found($poll->wait(), $names), "\n";
Wrapper::$cast = fn() => throw new Exception('from the wrapper');
echo refused(fn() => $poll->wait()), "\n";
Wrapper::$cast = fn() => false;
echo 'no descriptor: ', refused(fn() => found($poll->wait(), $names)), "\n";
Wrapper::$cast = function($inner) { suspend(); return $inner; };
echo 'suspends: ', found($poll->wait(), $names), "\n";
Wrapper::$cast = function($inner) use ($poll) { echo refused(fn() => $poll->wait()), "\n"; return $inner; };
echo 'waits: ', found($poll->wait(0), $names), "\n";
Wrapper::$cast = function($inner) use ($poll, $c) { $poll->unwatchRead($c); return $inner; };
echo 'unwatches another: ', found($poll->wait(), $names), "\n";
$poll->watchRead($c);
Wrapper::$cast = function($inner) use ($poll, &$s) { $poll->unwatchRead($s); return $inner; };
echo 'unwatches itself: ', found($poll->wait(), $names), "\n";
Wrapper::$cast = null;
$poll->watchRead($s);
fread($c, 1);
echo found($poll->wait(), $names), "\n";
// Once reported, unwatched by the code of another one, which is asked again because a coroutine has run.
fwrite($d, 'x');
$calls = 0;
Wrapper::$cast = function($inner) use ($poll, $c, &$calls) { ++$calls === 2 && $poll->unwatchRead($c); return $inner; };
spawn(fn() => null);
echo 'unwatches what was reported: ', found($poll->wait(), $names), "\n";
Wrapper::$cast = null;
fread($c, 1);
$poll->watchRead($c);
echo found($poll->wait(), $names), "\n";
$poll->unwatchRead($s);
$poll->unwatchRead($c);
$c = $d = $names['c'] = null;
[$c, $d] = pair(); // of which nothing is known, and whose descriptors are the lowest ones
$names['c'] = $c;
$poll->watchRead($c);
$poll->watchRead($s);
Wrapper::$cast = function($inner) use (&$c, &$new, &$peer) {
    Wrapper::$cast = null;
    fclose($c);
    [$new, $peer] = pair(); // has its descriptor, and is not ready
    return $inner;
};
echo 'closes another: ', found($poll->wait(), $names), "\n";

// The last reference is the poll's: the wrapper's code runs when it is unwatched.
Wrapper::$close = function() use ($poll) { echo 'close: ', refused(fn() => found($poll->wait(0), [])), "\n"; throw new Exception('from close'); };
$poll->unwatchRead($c);
$poll->unwatchRead($s);
$poll->watchRead($s);
$names = [];
unset($s);
[$read] = $poll->wait();
$key = key($read);
echo refused(function() use ($poll, &$read) {
    $last = current($read);
    $read = [];
    $poll->unwatchRead($last);
    unset($last);
    return 'unwatched';
}), "\n";
?>
--EXPECT--
read [s] write [] signals []
one
read [s] write [] signals []
two
read [] write [] signals []
reported: read [s c] write [] signals []
Exception: from the wrapper
no descriptor: returned "read [s c] write [] signals []"
suspends: read [s c] write [] signals []
waits: Error: Another wait() of this Async\Poll is active
read [s c] write [] signals []
unwatches another: read [s] write [] signals []
unwatches itself: read [c] write [] signals []
read [s] write [] signals []
unwatches what was reported: read [s] write [] signals []
read [s] write [] signals []
closes another: read [s c] write [] signals []
close: returned "read [] write [] signals []"
Exception: from close
