--TEST--
A signal is served between two steps of a task that neither loops nor calls
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () { echo "signal\n"; });

$scheduler = new Async\Task\Scheduler();
$pid = posix_getpid();
$scheduler->newTask((function () use ($pid) {
    yield;
    posix_kill($pid, SIGUSR1);
    yield;
    echo "last\n";
})());
// In the same round, so that nothing but steps lies between.
$scheduler->newTask((function () {
    echo "begun\n";
    yield;
    echo "other task\n";
    yield;
})());
$scheduler->run();
?>
--EXPECT--
begun
signal
other task
last
