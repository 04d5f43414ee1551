--TEST--
SCOPE-8 zombies that swallow each cancellation, spawn, wait for each other, or hold a long timer do not keep the application
--FILE--
<?php
require __DIR__ . '/kit.inc';
$cases = [
    'sleeps' => ['$swallow(fn() => delay(600_000));', 'disposeSafely()'],
    'gives way' => ['$swallow(fn() => suspend());', 'disposeSafely()'],
    'spawns' => ['$swallow(function() { spawn(fn() => delay(1)); delay(5); });', 'disposeSafely()'],
    'waits for its own child' => ['$swallow(fn() => await(spawn(fn() => await($GLOBALS["zombie"]))));', 'disposeSafely()'],
    'protected' => ['protect(fn() => delay(1_000_000));', 'disposeSafely()'],
    'with a time' => ['$swallow(fn() => delay(600_000));', 'disposeAfterTimeout(50)'],
    'with a long time' => ['delay(50); echo "has ended\n";', 'disposeAfterTimeout(599_999)'],
    'in a shutdown' => ['$swallow(fn() => delay(600_000));', 'disposeSafely(); Async\gracefulShutdown()'],
];
foreach ($cases as $name => [$body, $dispose]) {
    foreach ([0.05, 0] as $grace) {
        $ended = T\php(<<<PHP
            use function Async\{await, delay, protect, spawn, suspend};
            register_shutdown_function(function() { echo "shutdown\n"; });
            \$swallow = function(callable \$wait) {
                while (true) {
                    try {
                        \$wait();
                    } catch (Async\CancellationException|Async\AsyncException) {
                    }
                }
            };
            \$scope = new Async\Scope;
            \$zombie = \$scope->spawn(function() use (\$swallow) { $body });
            suspend();
            suspend();
            @\$scope->$dispose;
            echo "end\n";
            PHP, "-d async.zombie_coroutine_timeout=$grace");
        echo "$name: ", strtr($ended, "\n", ' '), "\n";
    }
}
?>
--EXPECT--
sleeps: [0] end shutdown 
sleeps: [0] end shutdown 
gives way: [0] end shutdown 
gives way: [0] end shutdown 
spawns: [0] end shutdown 
spawns: [0] end shutdown 
waits for its own child: [0] end shutdown 
waits for its own child: [0] end shutdown 
protected: [0] end shutdown 
protected: [0] end shutdown 
with a time: [0] end shutdown 
with a time: [0] end shutdown 
with a long time: [0] end has ended shutdown 
with a long time: [0] end has ended shutdown 
in a shutdown: [0] end shutdown 
in a shutdown: [0] end shutdown 
