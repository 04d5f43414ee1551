--TEST--
The failure of a task goes to the handler of the scope in which its scheduler runs
--INI--
async.seed=0
--FILE--
<?php
use Async\Scope;
use Async\Task\Scheduler;
use function Async\await;

require __DIR__ . '/kit.inc';

$scope = new Scope;
$scope->setExceptionHandler(function($scope, $coroutine, Throwable $e) {
    echo 'the handler gets ', said($e), "\n";
});
$running = $scope->spawn(function() {
    $s = new Scheduler;
    $s->newTask((function() { yield; throw new LogicException('one'); })());
    $s->newTask((function() { yield; yield; throw new LogicException('two'); })());
    $s->newTask(bystander(20));
    $s->run();
    echo "run() has returned\n";
});
await($running);
?>
--EXPECT--
the handler gets LogicException: one
the handler gets LogicException: two
the bystander has ended
run() has returned
