--TEST--
dump() has one line for five coroutines or more that do the same, and names the function that they are in
--FILE--
<?php
require __DIR__ . '/kit.inc';

use Async\Scope;
use function Async\{await, delay, dump, spawn};

$pairs = array_map(fn() => T\pair(), range(1, 8));
$jobs = [];
$scope = new Scope;
foreach ($pairs as $i => [$socket]) {
    $jobs[] = $scope->spawn(fn() => fgets($socket));
    if ($i === 2) {
        $jobs[] = $scope->spawn(fn() => delay(600_000));
    }
}
for ($i = 0; $i < 4; $i++) { // one too few
    $jobs[] = $scope->spawn(fn() => usleep(600_000_000));
}
for ($i = 0; $i < 6; $i++) {
    $jobs[] = $scope->spawn(fn() => await($jobs[$i < 5 ? 0 : 1]));
}
T\parked(...$jobs);
ob_start();
dump();
echo preg_replace(['~/\S*/dump-many.php:~', '~ for [\d.]+( to [\d.]+)? s~'], '', ob_get_clean());
exit;
?>
--EXPECT--
Async\dump: 20 coroutines in 2 scopes
global scope, lifetime scope, open: 1 coroutine
  #1 running, the script itself
Scope created at 9, lifetime scope, open: 19 coroutines
  #2 to #4, #6 to #10 (8 coroutines) suspended, spawned at 11, suspended at 11 in fgets(), each waits in poll()
  #5 suspended, spawned at 13, suspended at 13, waits in delay()
  #11 suspended, spawned at 17, suspended at 17, waits in usleep()
  #12 suspended, spawned at 17, suspended at 17, waits in usleep()
  #13 suspended, spawned at 17, suspended at 17, waits in usleep()
  #14 suspended, spawned at 17, suspended at 17, waits in usleep()
  #15 to #19 (5 coroutines) suspended, spawned at 20, suspended at 20, each waits in await() of coroutine #2
  #20 suspended, spawned at 20, suspended at 20, waits in await() of coroutine #3
