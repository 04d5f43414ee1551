--TEST--
CORO-1 CANC-2 a coroutine that is cancelled before it starts lets go of its task and arguments
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

final class Noisy
{
    public function __construct(private string $name) {}
    public function __destruct() { echo "$this->name goes\n"; }
}

$task = (function() {
    $captured = new Noisy('captured');
    return spawn(function() use ($captured) { echo "never\n"; }, new Noisy('argument'));
})();
echo "queued\n";
$task->cancel();
T\ended($task);
echo "cancelled\n";
var_dump($task->isStarted(), $task->isCompleted());
?>
--EXPECTF--
queued
%r(captured goes\nargument goes|argument goes\ncaptured goes)%r
cancelled
bool(false)
bool(true)
