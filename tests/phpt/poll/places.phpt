--TEST--
Async\Poll waits in main, coroutines, fibers, output callbacks and shutdown functions, several at once, and others run meanwhile
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{spawn, await, suspend};

// Two polls with one stream, in two coroutines; each wait suspends its coroutine only.
[$a, $b] = pair();
$names = ['a' => $a];
$waiters = [];
for ($i = 0; $i < 2; $i++) {
    $waiters[] = spawn(function() use ($a, $names) {
        $poll = new Async\Poll;
        $poll->watchRead($a);
        return found($poll->wait(), $names);
    });
}
T\parked(...$waiters);
fwrite($b, 'x');
echo await($waiters[0]), ' and ', await($waiters[1]), "\n";

// One poll in two coroutines.
fread($a, 1);
$poll = new Async\Poll;
$poll->watchRead($a);
$waiter = spawn(fn() => found($poll->wait(), $names));
T\parked($waiter);
echo refused(fn() => $poll->wait()), "\n";
fwrite($b, 'x');
echo await($waiter), "\n";

// A fiber that waits suspends the coroutine it runs in.
fread($a, 1);
$fiber = new Fiber(function() use ($poll, $names) {
    Fiber::suspend('before');
    return found($poll->wait(), $names);
});
echo $fiber->start(), "\n";
spawn(fn() => fwrite($b, 'x'));
$fiber->resume();
echo $fiber->getReturn(), "\n";

// A busy loop lets others run.
$turns = 0;
$other = spawn(function() use (&$turns) {
    while ($turns < 5) suspend();
    return 'has run';
});
while (!$other->isCompleted()) {
    $poll->wait();
    $turns++;
}
echo await($other), "\n";

// A stream that is always ready does not hide another one's data, nor that of a coroutine.
[$c, $d] = pair();
$poll->watchRead($c);
$names['c'] = $c;
echo found($poll->wait(), $names), "\n";
[$e, $f] = pair();
$reader = spawn(fn() => fread($e, 1));
T\parked($reader);
fwrite($d, 'x');
fwrite($f, 'y');
echo found($poll->wait(), $names), "\n";
while (!$reader->isCompleted()) $poll->wait();
echo await($reader), "\n";

// Registered here, and closed where that is not seen.
[$g, $h] = pair();
$late = new Async\Poll;
$late->watchRead($g);
echo found($late->wait(0), []), "\n";

// Where no coroutine can be suspended, the process waits.
fread($a, 1);
fread($c, 1);
ob_start(function() use ($poll, $names, $b) {
    fwrite($b, 'x');
    return 'in an output callback: ' . found($poll->wait(), $names) . "\n";
});
ob_end_flush();

register_shutdown_function(function() use ($poll, $names, $a, $c, $b, $d, $late, $g) {
    fclose($g);
    echo 'closed at shutdown: ', found($late->wait(), ['g' => $g]), "\n";
    echo 'at shutdown: ', found($poll->wait(), $names), "\n";
    fread($a, 1);
    echo 'no data: ', found($poll->wait(0), $names), ', ', found($poll->wait(0.001), $names), "\n";
    $start = hrtime(true);
    $poll->wait(0.02);
    echo hrtime(true) - $start >= 2e7 ? "in time\n" : "early\n";
    $poll->wake();
    echo 'woken: ', found($poll->wait(), $names), "\n";
    fclose($c);
    // The same descriptor again.
    [$new, $peer] = pair();
    fwrite($peer, 'x');
    $names['new'] = $new;
    echo 'closed: ', found($poll->wait(), $names), "\n";
    $poll->unwatchRead($c);
    $poll->watchRead($new);
    echo 'new: ', found($poll->wait(), $names), "\n";
    $poll->unwatchRead($new);
    fclose($d);
    $poll->watchSignal(SIGUSR1);
    posix_kill(getmypid(), SIGUSR1);
    echo 'a signal: ', found($poll->wait(), $names), "\n";
    pcntl_alarm(1);
    $poll->watchSignal(SIGALRM);
    echo 'an alarm: ', found($poll->wait(), $names), "\n";
    $poll->unwatchSignal(SIGUSR1);
    $poll->unwatchSignal(SIGALRM);
    $poll->unwatchRead($a);
    echo refused(fn() => $poll->wait()), "\n";
});
?>
--EXPECT--
read [a] write [] signals [] and read [a] write [] signals []
Error: Another wait() of this Async\Poll is active
read [a] write [] signals []
before
read [a] write [] signals []
has run
read [a] write [] signals []
read [a c] write [] signals []
y
read [] write [] signals []
in an output callback: read [a] write [] signals []
closed at shutdown: read [g] write [] signals []
at shutdown: read [a] write [] signals []
no data: read [] write [] signals [], read [] write [] signals []
in time
woken: read [] write [] signals []
closed: read [c] write [] signals []
new: read [new] write [] signals []
a signal: read [] write [] signals [10]
an alarm: read [] write [] signals [14]
Async\AsyncException: Cannot await here: the coroutines have ended, it would never complete
