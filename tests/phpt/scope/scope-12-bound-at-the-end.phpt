--TEST--
SCOPE-12 a scope whose object has gone, and whose last coroutine is its bound
--EXTENSIONS--
spindle
--INI--
async.seed=0
--FILE--
<?php
use Async\{BoundedScope, Lifetime};
use function Async\{await, spawn, suspend};

set_error_handler(static function (int $level, string $message): bool {
    echo preg_replace('/ at \S+ in .*/', '', $message), "\n"; // of the coroutine that outlives the object
    return true;
});
foreach (Lifetime::cases() as $lifetime) {
    foreach (['spawnAndBound', 'boundedBy'] as $way) {
        echo "$lifetime->name, $way: ";
        $scope = new BoundedScope($lifetime);
        $body = static function () {
            suspend();
            suspend();
            echo "to its end\n";
        };
        if ($way === 'spawnAndBound') {
            $last = $scope->spawnAndBound($body);
        } else {
            $scope->boundedBy($last = $scope->spawn($body));
        }
        suspend();
        unset($scope);
        try {
            await($last);
        } catch (Async\CancellationException $e) {
            echo $e->getMessage(), "\n";
        }
    }
}
// The bound is noted where the object is still there.
$scope = new BoundedScope;
await($scope->spawnAndBound(static fn () => suspend()));
suspend();
var_dump($scope->isCancelled(), $scope->isFinished());
echo $scope->getBoundsInfo()['reached'], "\n";
?>
--EXPECTF--
Scope, spawnAndBound: Coroutine is zombie
to its end
Scope, boundedBy: Coroutine is zombie
to its end
TopDown, spawnAndBound: cancelled because the object of its Scope was released at %sscope-12-bound-at-the-end.php:24
TopDown, boundedBy: cancelled because the object of its Scope was released at %sscope-12-bound-at-the-end.php:24
BottomUp, spawnAndBound: to its end
BottomUp, boundedBy: to its end
bool(true)
bool(true)
constraint
