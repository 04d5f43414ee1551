--TEST--
Async\Poll reports signals, in which no default action takes place while they are watched
--SKIPIF--
<?php extension_loaded('posix') && extension_loaded('pcntl') || die('skip posix or pcntl is missing');
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{spawn, await};

$poll = new Async\Poll;
$poll->watchSignal(SIGUSR1);
$poll->watchSignal(SIGUSR1);
$poll->watchSignal(SIGTERM);
$me = getmypid();

for ($i = 0; $i < 3; $i++) {
    posix_kill($me, SIGUSR1);
    posix_kill($me, SIGUSR1);
    echo 'before the wait: ', found($poll->wait(), []), ', then ', found($poll->wait(0), []), "\n";
}
posix_kill($me, SIGTERM);
posix_kill($me, SIGUSR1);
echo 'two: ', found($poll->wait(), []), "\n";

$waiter = spawn(fn() => found($poll->wait(), []));
T\parked($waiter);
posix_kill($me, SIGUSR1);
echo 'during the wait: ', await($waiter), "\n";

$side = new T\Side('fgets(STDIN); exec("kill -$argv[2] $argv[1]"); fgets(STDIN);', $me, SIGUSR1);
$waiter = spawn(fn() => found($poll->wait(), []));
T\parked($waiter);
$side->say('now');
echo 'from another process: ', await($waiter), "\n";
$side->end();

// A handler of PHP's sees it, too, and a wait ends when one has run.
pcntl_async_signals(true);
pcntl_signal(SIGUSR2, function() { echo "handler\n"; });
$poll->watchSignal(SIGUSR2);
posix_kill($me, SIGUSR2);
echo 'with a handler: ', found($poll->wait(), []), "\n";
$poll->unwatchSignal(SIGUSR2);
$waiter = spawn(fn() => found($poll->wait(), []));
T\parked($waiter);
$side = new T\Side('fgets(STDIN); exec("kill -$argv[2] $argv[1]"); fgets(STDIN);', $me, SIGUSR2);
$side->say('now');
echo 'the handler only: ', await($waiter), "\n";
$side->end();

// Two polls.
$other = new Async\Poll;
$other->watchSignal(SIGUSR1);
posix_kill($me, SIGUSR1);
echo found($poll->wait(), []), ' and ', found($other->wait(), []), "\n";
posix_kill($me, SIGUSR1);
$poll->unwatchSignal(SIGUSR1);
echo found($poll->wait(0), []), ' and ', found($other->wait(), []), "\n";
unset($other);

// The default action is back.
$child = pcntl_fork();
if ($child === 0) {
    posix_kill(getmypid(), SIGUSR1);
    exit(0);
}
pcntl_waitpid($child, $status);
var_dump(pcntl_wifsignaled($status) && pcntl_wtermsig($status) === SIGUSR1);

foreach ([0, -1, 65, SIGKILL] as $signal) {
    echo refused(fn() => $poll->watchSignal($signal)), "\n";
}
$poll->unwatchSignal(SIGHUP);
?>
--EXPECT--
before the wait: read [] write [] signals [10], then read [] write [] signals []
before the wait: read [] write [] signals [10], then read [] write [] signals []
before the wait: read [] write [] signals [10], then read [] write [] signals []
two: read [] write [] signals [10 15]
during the wait: read [] write [] signals [10]
from another process: read [] write [] signals [10]
handler
with a handler: read [] write [] signals [12]
the handler only: handler
read [] write [] signals []
read [] write [] signals [10] and read [] write [] signals [10]
read [] write [] signals [] and read [] write [] signals [10]
bool(true)
ValueError: Async\Poll::watchSignal(): Argument #1 ($signo) must be the number of a signal
ValueError: Async\Poll::watchSignal(): Argument #1 ($signo) must be the number of a signal
ValueError: Async\Poll::watchSignal(): Argument #1 ($signo) must be the number of a signal
ValueError: Async\Poll::watchSignal(): Argument #1 ($signo) must be a signal that can be caught: Invalid argument (os error 22)
