--TEST--
The time of a wait of Async\Poll: never early, without limit, and refused where it makes no sense
--FILE--
<?php
require __DIR__ . '/kit.inc';
use function Async\{spawn, await};

$poll = new Async\Poll;
[$a, $b] = pair();
foreach ([false, true] as $watches) {
    $watches && $poll->watchRead($a);
    foreach ([0, 0.0, 1e-9, 1e-6, 0.0011, 0.02] as $seconds) {
        for ($i = 0; $i < 5; $i++) {
            $start = hrtime(true);
            $poll->wait($seconds);
            hrtime(true) - $start >= $seconds * 1e9 || print("early after $seconds\n");
        }
    }
}
foreach ([INF, PHP_INT_MAX, 1e300, null] as $seconds) {
    $waiter = spawn(fn() => found($poll->wait($seconds), []));
    T\parked($waiter);
    T\turns(3);
    var_dump($waiter->isCompleted());
    $poll->wake();
    echo await($waiter), "\n";
}
foreach ([-1, -0.001, -INF, NAN, 'x'] as $seconds) {
    echo refused(fn() => $poll->wait($seconds)), "\n";
}
echo found($poll->wait(-0.0), []), "\n";
$poll->unwatchRead($a);
// Without a watch, a time keeps the wait from being a deadlock.
$waiter = spawn(fn() => found($poll->wait(INF), []));
T\parked($waiter);
T\turns(3);
$poll->wake();
echo await($waiter), "\n";
?>
--EXPECT--
bool(false)
read [] write [] signals []
bool(false)
read [] write [] signals []
bool(false)
read [] write [] signals []
bool(false)
read [] write [] signals []
ValueError: Async\Poll::wait(): Argument #1 ($seconds) must be null or a number of seconds that is not negative
ValueError: Async\Poll::wait(): Argument #1 ($seconds) must be null or a number of seconds that is not negative
ValueError: Async\Poll::wait(): Argument #1 ($seconds) must be null or a number of seconds that is not negative
ValueError: Async\Poll::wait(): Argument #1 ($seconds) must be null or a number of seconds that is not negative
TypeError: Async\Poll::wait(): Argument #1 ($seconds) must be of type ?float, string given
read [] write [] signals []
read [] write [] signals []
