--TEST--
A stream that is closed while Async\Poll watches it is ready until it is unwatched, and never taken for one with its descriptor
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{spawn, await, suspend};

function number($stream): int
{
    foreach (glob('/proc/self/fd/*') as $file) {
        $stat = @stat($file);
        if ($stat && $stat['ino'] === fstat($stream)['ino']) return (int) basename($file);
    }
    throw new Error('no descriptor');
}

foreach (['before a wait', 'during a wait'] as $when) {
    foreach (['idle', 'ready'] as $state) {
        $poll = new Async\Poll;
        [$old, $peer] = pair();
        $poll->watchRead($old);
        $state === 'ready' && fwrite($peer, 'x');
        $poll->wait(0);
        $state === 'ready' && fread($old, 1);
        $close = function() use (&$old, &$new, &$other) {
            $number = number($old);
            fclose($old);
            [$new, $other] = pair();
            if (number($new) !== $number) [$new, $other] = [$other, $new];
            number($new) === $number || throw new Error('another descriptor');
            fwrite($other, 'for the new one');
        };
        $when === 'before a wait' ? $close() : spawn($close);
        echo "$when, $state: ", found($poll->wait(), ['old' => $old]), ', again ', found($poll->wait(), ['old' => $old]), "\n";
        $poll->unwatchRead($old);
        $poll->unwatchRead($old);
        echo 'unwatched: ', found($poll->wait(0), []), "\n";
        $poll->watchRead($new);
        echo 'the new one: ', found($poll->wait(), ['new' => $new]), ', ', fread($new, 100), "\n";
        echo 'nothing: ', found($poll->wait(0), []), "\n";
    }
}
echo refused(fn() => $poll->watchRead($old)), "\n";

// A stream that only the poll refers to stays open; unwatched, it is closed.
[$a, $b] = pair();
$poll->watchRead($a);
$poll->watchWrite($a);
unset($a);
$poll->unwatchRead(current($poll->wait()[1]));
stream_set_blocking($b, false);
var_dump(fread($b, 1), feof($b));
$poll->unwatchWrite(current($poll->wait()[1]));
var_dump(fread($b, 1), feof($b));

// So it is with the object.
[$a, $b] = pair();
$poll->watchRead($a);
$poll->wait(0);
unset($a, $poll);
var_dump(fread($b, 1), feof($b));
?>
--EXPECT--
before a wait, idle: read [old] write [] signals [], again read [old] write [] signals []
unwatched: read [] write [] signals []
the new one: read [new] write [] signals [], for the new one
nothing: read [] write [] signals []
before a wait, ready: read [old] write [] signals [], again read [old] write [] signals []
unwatched: read [] write [] signals []
the new one: read [new] write [] signals [], for the new one
nothing: read [] write [] signals []
during a wait, idle: read [old] write [] signals [], again read [old] write [] signals []
unwatched: read [] write [] signals []
the new one: read [new] write [] signals [], for the new one
nothing: read [] write [] signals []
during a wait, ready: read [old] write [] signals [], again read [old] write [] signals []
unwatched: read [] write [] signals []
the new one: read [new] write [] signals [], for the new one
nothing: read [] write [] signals []
TypeError: Async\Poll::watchRead(): Argument #1 ($stream) must be an open stream resource
string(0) ""
bool(false)
string(0) ""
bool(true)
string(0) ""
bool(true)
