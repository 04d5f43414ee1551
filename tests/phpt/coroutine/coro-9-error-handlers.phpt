--TEST--
CORO-9 callbacks, handlers and destructors of values have the error handler of who has registered them, whoever runs them
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Future, FutureState, Pool, Scope};
use function Async\{await, delay, spawn, suspend, timeout};

class Warns
{
    public function __destruct() { warns(); }
}
function warns(): void { trigger_error('a warning', E_USER_WARNING); }

/** Registers with one error handler, and lets it happen with another one. */
function registered(string $what, Closure $register, Closure $happens): void
{
    echo "$what: ";
    $made = await(spawn(function() use ($register) {
        set_error_handler(fn() => print('of who has registered'));
        return $register();
    }));
    await(spawn(function() use ($happens, $made) {
        set_error_handler(fn() => print('of another'));
        $happens($made);
        trigger_error('', E_USER_NOTICE);
        T\turns(5);
    }));
    T\turns(5);
    echo "\n";
}

$ends = function(Scope $scope) { $scope->spawn(fn() => 1); T\turns(5); };
$fails = function(Scope $scope) { $scope->spawn(fn() => fails('failure')); T\turns(5); };
function fails(string $text): never { throw new RuntimeException($text); }

registered('Scope::onFinally', function() { $s = new Scope; $s->onFinally(fn() => warns()); return $s; }, $ends);
registered('Scope::setExceptionHandler', function() { $s = new Scope; $s->setExceptionHandler(fn($e) => warns()); return $s; }, $fails);
registered('Scope::setChildScopeExceptionHandler',
    function() { $s = new Scope; $s->setChildScopeExceptionHandler(fn($s, $c, $e) => warns()); return $s; },
    fn($s) => $fails(Scope::inherit($s)));
registered('a value of a scope', function() { $s = new Scope; $s->set('it', new Warns); return $s; }, $ends);
registered('a value of another coroutine', function() {
    $c = spawn(fn() => T\turns(5));
    $c->getContext()->set('it', new Warns);
    return $c;
}, fn($c) => await($c));
registered('Future::map', function() { $s = new FutureState; $f = new Future($s); $GLOBALS['mapped'] = $f->map(fn() => warns()); return $s; },
    function($s) { $s->complete(1); T\turns(5); });
registered('Pool', function() {
    $p = new Pool(fn() => new stdClass, destructor: fn() => warns());
    $p->release($p->acquire());
    return $p;
}, fn($p) => $p->close());
registered('on a completed coroutine', fn() => (function() {
    $c = spawn(fn() => 1);
    await($c);
    $c->onFinally(fn() => warns());
    return $c;
})(), fn() => T\turns(5));
echo 'the last coroutine of the scope is the one that has ended: ';
set_error_handler(fn() => print("handled\n"));
$scope = new Scope;
$scope->onFinally(fn() => warns());
$scope->spawn(fn() => 1);
$scope->awaitCompletion(timeout(60_000));
T\turns(5);
?>
--EXPECT--
Scope::onFinally: of who has registeredof another
Scope::setExceptionHandler: of who has registeredof another
Scope::setChildScopeExceptionHandler: of who has registeredof another
a value of a scope: of who has registeredof another
a value of another coroutine: of who has registeredof another
Future::map: of who has registeredof another
Pool: of who has registeredof another
on a completed coroutine: of who has registeredof another
the last coroutine of the scope is the one that has ended: handled
