--TEST--
IO-9 a signal is for the coroutine that has set its handler; one that the running code sends itself is handled before its next statement
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, currentCoroutine, spawn};

require __DIR__ . '/kit.inc';
T\work_in(['lock' => '']);

pcntl_async_signals(true);
$me = getmypid();
$in = [];
$note = function() use (&$in) { $in[] = currentCoroutine()->getId(); };
$throw = fn() => throw new DomainException('of the handler');

// sent by the running code: handled there and then, with whoever else there is
$send = function(string $who) use ($me, $note, $throw, &$in) {
    pcntl_signal(SIGUSR1, $note);
    $in = [];
    posix_kill($me, SIGUSR1);
    T\check("$who: handled before the next statement", $in === [currentCoroutine()->getId()], $in);
    pcntl_signal(SIGUSR1, $throw);
    try {
        posix_kill($me, SIGUSR1);
        echo "not thrown\n";
    } catch (DomainException $e) {
        echo $e->getMessage(), "\n";
    }
};
$send('main');
await(spawn($send, 'a coroutine'));
[$a, $b] = T\pair();
$waits = spawn(fn() => fgets($a));
$select = spawn(function() use ($b) { $r = [$b]; $w = $e = null; return stream_select($r, $w, $e, 600); });
T\parked($waits, $select);
await(spawn($send, 'beside others'));
T\check('their calls go on', $waits->isSuspended() && $select->isSuspended());

// sent by another coroutine: it is handled there, and main, which has set the handler, is waked from its call
pcntl_signal(SIGUSR1, $note);
$in = [];
$sender = spawn(function() use ($me, &$in) { T\turns(20); posix_kill($me, SIGUSR1); return $in === [currentCoroutine()->getId()]; });
T\check('main does not sleep on', sleep(600) > 20 && await($sender) && $select->isSuspended());

// sent from outside: for who has set the handler, not for the one that has waited longest
$side = new T\Side('while ($l = fgets(STDIN)) { [$name, $pid] = explode(" ", $l); while (!file_exists("go")) { usleep(1000); clearstatcache(); } shell_exec("kill -$name $pid"); touch("sent"); }');
$owner = spawn(function() use ($throw) {
    pcntl_signal(SIGUSR2, $throw);
    [$a, $b] = T\pair();
    [$r, $w, $e] = [[$a], null, null];
    try {
        return @stream_select($r, $w, $e, 600);
    } catch (DomainException $e) {
        return $e->getMessage();
    }
});
T\parked($owner);
touch('go');
$side->say("USR2 $me");
echo await($owner), "\n";
T\check('not for another', $select->isSuspended());

// it comes while the owner has been waked in its call, and cannot have what it waits for yet
T\until(fn() => file_exists('sent'));
unlink('sent');
unlink('go');
$lock = fopen('lock', 'r');
flock($lock, LOCK_EX);
$other = fopen('lock', 'r'); // here: on a busy machine files are opened by workers
$owner = spawn(function() use ($throw, $other) {
    pcntl_signal(SIGUSR2, $throw, false);
    try {
        return flock($other, LOCK_EX);
    } catch (DomainException $e) {
        return $e->getMessage();
    }
});
T\parked($owner);
$side->say("USR2 $me");
flock($lock, LOCK_UN); // it is waked
flock($lock, LOCK_EX);
touch('go');
for ($end = hrtime(true) + 60e9; !file_exists('sent') && hrtime(true) < $end; ) clearstatcache(); // nobody else runs
T\check('it ends', T\until(fn() => $owner->isCompleted()));
echo $owner->isCompleted() ? await($owner) : '', "\n";
T\check('and nobody else', $select->isSuspended());
exit;
?>
--EXPECT--
main: handled before the next statement: yes
of the handler
a coroutine: handled before the next statement: yes
of the handler
beside others: handled before the next statement: yes
of the handler
their calls go on: yes
main does not sleep on: yes
of the handler
not for another: yes
it ends: yes
of the handler
and nobody else: yes
