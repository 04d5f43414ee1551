--TEST--
CORO-9 callbacks for an end run as their coroutine: whatever it has, and whatever its end
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, Coroutine, Lifetime, Mutex, Scope};
use function Async\{await, currentCoroutine, currentScope, delay, localContext, onFinally, spawn, suspend};

$mutex = new Mutex;
$who = function(string $name) {
    return function(Coroutine $of) use ($name) {
        echo "$name: ", $of === currentCoroutine() ? 'itself' : 'another', ', ', localContext()->find('name') ?? 'no value', "\n";
    };
};

echo "its locks and its state\n";
$job = spawn(function() use ($mutex, $who) {
    $mutex->lock();
    localContext()->set('name', 'a value');
    set_error_handler(fn($level, $text) => print("its own handler: $text\n"));
    error_reporting(E_ALL & ~E_NOTICE);
    ob_start(fn($text) => strtoupper($text));
    onFinally(function() use ($mutex) {
        echo 'unlocks, ', ob_get_level(), ' ', json_encode(error_reporting() === (E_ALL & ~E_NOTICE)), "\n";
        trigger_error('in the callback', E_USER_WARNING);
        T\turns(5);
        $mutex->unlock();
    });
    onFinally($who('returned'));
    return 'result';
});
$next = spawn(function() use ($mutex) { $mutex->lock(); $mutex->unlock(); echo "the next one has the lock\n"; });
echo await($job), "\n";
await($next);

echo "other ends\n";
$fails = spawn(function() use ($who) { localContext()->set('name', 'kept'); onFinally($who('failed')); throw new LogicException('failure'); });
echo get_class(T\failure($fails)), "\n";
$cancelled = spawn(function() use ($who) { localContext()->set('name', 'kept'); onFinally($who('cancelled')); delay(600_000); });
T\begun($cancelled);
$cancelled->cancel();
echo get_class(T\failure($cancelled)), "\n";
$never = spawn(fn() => 1);
$never->getContext()->set('name', 'kept');
$never->onFinally($who('never started'));
$never->cancel();
echo get_class(T\failure($never)), "\n";

echo "that it has spawned others\n";
$scope = new Scope(Lifetime::BottomUp);
$goes = false;
$parent = $scope->spawn(function() use ($mutex, &$goes, $who) {
    $mutex->lock();
    localContext()->set('name', 'kept');
    onFinally(function() use ($mutex) { $mutex->unlock(); });
    onFinally($who('after its children'));
    spawn(function() use (&$goes) { while (!$goes) suspend(); echo "a child ends\n"; });
    return 'of the parent';
});
T\turns(10);
var_dump($parent->isCompleted(), $parent->getResult(), $parent->getAwaitingInfo()['call'], $mutex->isLocked());
$goes = true;
echo await($parent), "\n";
var_dump($mutex->isLocked());
$scope = new Scope(Lifetime::TopDown);
await($scope->spawn(function() {
    onFinally(function() {
        spawn(function() {
            try { delay(600_000); } catch (CancellationException $e) { echo strtok($e->getMessage(), ":"), "\n"; }
        });
        suspend();
    });
}));
T\turns(5);

echo "while they run\n";
$goes = $begun = false;
$job = spawn(function() use (&$goes, &$begun) {
    onFinally(function(Coroutine $of) use (&$goes, &$begun) {
        $begun = true;
        while (!$goes) suspend();
        echo 'own result: ', await($of), ', ', json_encode($of->isRunning()), "\n";
        onFinally(function() { echo "registered in a callback\n"; });
    });
    return 'result';
});
T\until(function() use (&$begun) { return $begun; });
$awaiter = spawn(function() use ($job) { echo 'awaited: ' . await($job) . "\n"; });
$job->cancel();
T\turns(5);
var_dump($job->isCompleted(), $job->getResult(), $job->isCancelled(), $job->isCancellationRequested());
$goes = true;
await($awaiter);

echo "later\n";
$job->onFinally($who('on a completed one'));
$job->onFinally(function() { localContext()->set('name', 'set by a callback'); });
T\turns(5);
var_dump($job->getContext()->has('name'));

echo "of the script\n";
localContext()->set('name', 'of main');
onFinally(function() use ($mutex) { T\turns(5); $mutex->unlock(); echo "unlocked\n"; });
onFinally($who('main'));
$mutex->lock();
?>
--EXPECT--
its locks and its state
RETURNED: ITSELF, A VALUE
UNLOCKS, 1 TRUE
ITS OWN HANDLER: IN THE CALLBACK
the next one has the lock
result
other ends
failed: itself, kept
LogicException
cancelled: itself, kept
Async\CancellationException
never started: itself, kept
Async\CancellationException
that it has spawned others
bool(false)
NULL
string(8) "children"
bool(true)
a child ends
after its children: itself, kept
of the parent
bool(false)
cancelled because the coroutine that spawned it has completed
while they run
bool(true)
string(6) "result"
bool(false)
bool(false)
own result: result, true
registered in a callback
awaited: result
later
on a completed one: itself, no value
bool(false)
of the script
main: itself, of main
unlocked
