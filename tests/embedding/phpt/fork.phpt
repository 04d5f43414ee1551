--TEST--
In the child of a fork the coroutines of the parent wait in no queue
--EXTENSIONS--
pcntl
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
use function Async\{await, spawn};
use function Embedding\{channel, receive, send};
use function T\parked;

$channel = channel();
$parents = spawn(receive(...), $channel);
parked($parents);
$child = pcntl_fork();
if ($child === 0) {
    $childs = spawn(receive(...), $channel);
    T\until(fn () => $childs->isSuspended());
    send($channel, "the child's value");
    echo await($childs), "\n";
    exit;
}
pcntl_waitpid($child, $status);
send($channel, "the parent's value");
echo await($parents), "\n";
--EXPECT--
the child's value
the parent's value
