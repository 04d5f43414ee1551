--TEST--
A wait of Async\Poll returns what is ready as long as it is: by the kernel, at an end or an error, and by buffered data
--FILE--
<?php
require __DIR__ . '/kit.inc';

$poll = new Async\Poll;
[$a, $b] = pair();
$names = ['a' => $a, 'b' => $b];
$look = fn(?float $seconds = 0) => found($poll->wait($seconds), $GLOBALS['names']) . "\n";

$poll->watchRead($a);
$poll->watchRead($a);
$poll->watchWrite($a);
echo 'writable: ', $look(null), 'still: ', $look(null);
$poll->unwatchWrite($a);
echo 'nothing: ', $look();
fwrite($b, "one\ntwo\n");
echo 'data: ', $look(null), 'unread: ', $look(null);
echo fgets($a), 'in the buffer: ', $look(null), 'still: ', $look();
echo fgets($a), 'all read: ', $look();

stream_set_blocking($b, false);
while (fwrite($b, str_repeat('x', 65536))) {
}
$poll->watchWrite($b);
$poll->unwatchRead($a);
echo 'full: ', $look();
Async\spawn(function() use ($a) {
    stream_set_blocking($a, false);
    while ((string) fread($a, 65536) !== '') {
    }
});
echo 'drained: ', $look(null);
$poll->unwatchWrite($b);

$poll->watchRead($a);
echo 'empty: ', $look();
fclose($b);
echo 'the end: ', $look(null), 'still: ', $look(null);
$poll->watchWrite($a);
echo 'no reader: ', $look(null);
$poll->unwatchRead($a);
$poll->unwatchWrite($a);

$names = ['file' => fopen(__FILE__, 'r')];
$poll->watchRead($names['file']);
echo 'a file: ', $look(null), 'still: ', $look(null);
$poll->unwatchRead($names['file']);
echo 'nothing: ', $look();
?>
--EXPECT--
writable: read [] write [a] signals []
still: read [] write [a] signals []
nothing: read [] write [] signals []
data: read [a] write [] signals []
unread: read [a] write [] signals []
one
in the buffer: read [a] write [] signals []
still: read [a] write [] signals []
two
all read: read [] write [] signals []
full: read [] write [] signals []
drained: read [] write [b] signals []
empty: read [] write [] signals []
the end: read [a] write [] signals []
still: read [a] write [] signals []
no reader: read [a] write [a] signals []
a file: read [file] write [] signals []
still: read [file] write [] signals []
nothing: read [] write [] signals []
