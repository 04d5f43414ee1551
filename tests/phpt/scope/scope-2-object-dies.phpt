--TEST--
SCOPE-2 scopes that die while their coroutines run, in each lifetime: by return, unset, an exception, a collection
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{CancellationException, Lifetime, Scope};
use function Async\{await, delay, spawn, suspend};

set_error_handler(function(int $level, string $message) {
    $GLOBALS['warnings']++;
    return true;
});

/** What became of two coroutines of a scope whose object has died. */
function ended(Lifetime $lifetime, string $how, callable $case): void
{
    $GLOBALS['warnings'] = $GLOBALS['worked'] = $GLOBALS['cancelled'] = 0;
    $case(function(Scope $scope) {
        $work = function() {
            try {
                T\turns(100); // the scope dies long before
                $GLOBALS['worked']++;
            } catch (CancellationException $e) {
                $GLOBALS['cancelled']++;
            }
        };
        $scope->spawn($work);
        $scope->spawn($work);
    });
    while ($GLOBALS['worked'] + $GLOBALS['cancelled'] < 2) {
        T\turns(5);
    }
    echo "$lifetime->name, $how: $GLOBALS[warnings] warnings, $GLOBALS[worked] worked, $GLOBALS[cancelled] cancelled\n";
}

class Broken extends Scope
{
    public function __construct(Lifetime $lifetime, callable $fill)
    {
        parent::__construct($lifetime);
        $fill($this);
        T\turns(1);
        throw new Exception('constructor');
    }
}
class Throwing extends Scope
{
    public function __destruct() { throw new Exception('destructor'); }
}

foreach (Lifetime::cases() as $lifetime) {
    ended($lifetime, 'return', function($fill) use ($lifetime) {
        $scope = new Scope($lifetime);
        $fill($scope);
        T\turns(1);
    });
    ended($lifetime, 'exception', function($fill) use ($lifetime) {
        $fails = function() use ($lifetime, $fill) {
            $scope = new Scope($lifetime);
            $fill($scope);
            T\turns(1);
            throw new LogicException('in flight');
        };
        try {
            $fails();
        } catch (LogicException $e) {
            assert($e->getMessage() === 'in flight');
        }
    });
    ended($lifetime, 'cancelled holder', function($fill) use ($lifetime) {
        $holder = spawn(function() use ($lifetime, $fill) {
            $scope = new Scope($lifetime);
            $fill($scope);
            delay(600_000);
        });
        T\turns(1);
        $holder->cancel();
        unset($holder);
    });
    ended($lifetime, 'collected', function($fill) use ($lifetime) {
        $cycle = new stdClass;
        $cycle->self = $cycle;
        $cycle->scope = new Scope($lifetime);
        $fill($cycle->scope);
        T\turns(1);
        unset($cycle);
        gc_collect_cycles();
    });
    ended($lifetime, 'constructor throws', function($fill) use ($lifetime) {
        try {
            new Broken($lifetime, $fill);
        } catch (Exception $e) {
            assert($e->getMessage() === 'constructor');
        }
    });
    ended($lifetime, 'destructor throws', function($fill) use ($lifetime) {
        $scope = new Throwing($lifetime);
        $fill($scope);
        T\turns(1);
        try {
            unset($scope);
        } catch (Exception $e) {
            assert($e->getMessage() === 'destructor');
        }
    });
}
// not started, in TopDown: never starts
$scope = new Scope(Lifetime::TopDown);
$scope->spawn(fn() => print("not reached\n"));
unset($scope);
suspend();
suspend();
// an error handler that throws during the death, with an exception in flight
set_error_handler(fn(int $level, string $message) => throw new ErrorException('warning'));
try {
    (function() {
        $scope = new Scope(Lifetime::Scope);
        $scope->spawn(fn() => T\turns(10));
        suspend();
        throw new LogicException('in flight');
    })();
} catch (Exception $e) {
    echo said($e), "\n";
}
?>
--EXPECT--
Scope, return: 2 warnings, 2 worked, 0 cancelled
Scope, exception: 2 warnings, 2 worked, 0 cancelled
Scope, cancelled holder: 2 warnings, 2 worked, 0 cancelled
Scope, collected: 2 warnings, 2 worked, 0 cancelled
Scope, constructor throws: 2 warnings, 2 worked, 0 cancelled
Scope, destructor throws: 2 warnings, 2 worked, 0 cancelled
TopDown, return: 0 warnings, 0 worked, 2 cancelled
TopDown, exception: 0 warnings, 0 worked, 2 cancelled
TopDown, cancelled holder: 0 warnings, 0 worked, 2 cancelled
TopDown, collected: 0 warnings, 0 worked, 2 cancelled
TopDown, constructor throws: 0 warnings, 0 worked, 2 cancelled
TopDown, destructor throws: 0 warnings, 0 worked, 2 cancelled
BottomUp, return: 0 warnings, 2 worked, 0 cancelled
BottomUp, exception: 0 warnings, 2 worked, 0 cancelled
BottomUp, cancelled holder: 0 warnings, 2 worked, 0 cancelled
BottomUp, collected: 0 warnings, 2 worked, 0 cancelled
BottomUp, constructor throws: 0 warnings, 2 worked, 0 cancelled
BottomUp, destructor throws: 0 warnings, 2 worked, 0 cancelled
ErrorException: warning <- LogicException: in flight
