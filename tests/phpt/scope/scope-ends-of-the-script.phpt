--TEST--
CORO-12 ERR-3 exit, fatal errors and failures in scopes, handlers and callbacks, and in the shutdown
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
$kit = <<<'PHP'
    use Async\Scope;
    use function Async\{await, delay, gracefulShutdown, onFinally, spawn, suspend, timeout};
    register_shutdown_function(function() { echo "shutdown;\n"; });
    set_exception_handler(fn(Throwable $e) => print(get_class($e) . " {$e->getMessage()};\n"));
    function fails($message = 'failure') { throw new RuntimeException($message); }
    function works(string $name, int $ms = 30) {
        try {
            delay($ms);
            echo "$name has worked;\n";
        } catch (Async\CancellationException $e) {
            echo "$name is cancelled;\n";
            throw $e;
        }
    }
    $scope = new Scope;
    PHP;
$run = function(string $name, string $code) use ($kit) {
    $ended = T\php("$kit\n$code");
    $lines = preg_grep('~;$|^PHP Fatal|^Fatal~', explode("\n", $ended->output));
    echo "$name: $ended->status ", implode(' ', preg_replace('~ in /.*~', '', $lines)), "\n";
};
foreach (['exit' => 'exit(3);', 'fatal error' => 'eval("class X { abstract function f(); }");', 'failure' => 'fails("from there");'] as $how => $end) {
    $run("$how in a handler", <<<PHP
        \$scope->setExceptionHandler(function() { delay(1); $end });
        \$scope->onFinally(fn() => print("callback;\n"));
        \$scope->spawn('fails');
        delay(600_000);
        PHP);
    $run("$how in a callback of a scope", <<<PHP
        \$scope->onFinally(function() { delay(1); $end });
        \$scope->set('k', 'v');
        \$scope->spawn(fn() => 1);
        delay(600_000);
        PHP);
    $run("$how in a callback of a coroutine", <<<PHP
        \$scope->spawn(function() { onFinally(function() { delay(1); $end }); });
        delay(600_000);
        PHP);
    $run("$how in a coroutine", <<<PHP
        \$scope->spawn(function() { try { delay(5); $end } finally { echo "finally;\n"; } });
        \$scope->onFinally(fn() => print("callback;\n"));
        delay(600_000);
        PHP);
    $run("$how in a destructor of a value", <<<PHP
        class D { function __destruct() { delay(1); $end } }
        \$scope->set('k', new D);
        \$scope->spawn(fn() => 1);
        delay(600_000);
        PHP);
    $run("$how in a destructor of what failed", <<<PHP
        class D { function __destruct() { delay(1); $end } }
        ini_set('zend.exception_ignore_args', '0');
        \$scope->setExceptionHandler(fn() => print("handled;\n"));
        \$scope->spawn(fn(D \$d) => fails(), new D);
        delay(600_000);
        PHP);
}
$run('two failures', '(new Scope)->spawn("fails", "one"); $two = new Scope; $two->spawn(function() { suspend(); suspend(); suspend(); fails("two"); }); delay(600_000);');
$run('independent roots go on', '$scope->spawn("works", "root"); Scope::inherit()->spawn("works", "below"); $failing = new Scope; $failing->spawn("fails"); delay(600_000);');
$run('a second failure', '$scope->spawn("works", "root", 600_000); spawn(function() { try { delay(600_000); } finally { delay(5); fails("second"); } }); $f = new Scope; $f->spawn(function() { delay(5); fails("first"); }); delay(600_000);');
$run('in an independent root', '$scope->spawn(function() { gracefulShutdown(new Exception("why")); works("caller"); await(spawn("works", "spawned")); }); spawn("works", "global", 600_000); delay(600_000);');
$run('below the global scope', '$scope = Scope::inherit(); $scope->spawn(function() { gracefulShutdown(); works("caller", 600_000); }); spawn("works", "global", 600_000); delay(600_000);');
$run('in a shutdown function', 'spawn(fn() => 1); register_shutdown_function(function() {
    $scope = new Scope;
    $child = Scope::inherit();
    $scope->spawn(fn() => print("never;\n"));
    foreach ([fn() => $scope->awaitCompletion(timeout(5)), fn() => Async\currentScope() === Async\globalScope() || print("current;\n"), fn() => await((new Async\BoundedScope)->spawn(fn() => 1))] as $f) {
        try { $f(); } catch (Async\AsyncException $e) { echo $e->getMessage(), ";\n"; }
    }
    $scope->cancel();
    fails("in shutdown");
});');
?>
--EXPECTF--
exit in a handler: 3 shutdown;
exit in a callback of a scope: 3 shutdown;
exit in a callback of a coroutine: 3 shutdown;
exit in a coroutine: 3 shutdown;
exit in a destructor of a value: 3 shutdown;
exit in a destructor of what failed: 3 handled; shutdown;
fatal error in a handler: 255 Fatal error: %r(Class X contains 1 abstract method and must therefore be declared abstract or implement the remaining methods \(X::f\)|Class X declares abstract method f\(\) and must therefore be declared abstract)%r shutdown;
fatal error in a callback of a scope: 255 Fatal error: %r(Class X contains 1 abstract method and must therefore be declared abstract or implement the remaining methods \(X::f\)|Class X declares abstract method f\(\) and must therefore be declared abstract)%r shutdown;
fatal error in a callback of a coroutine: 255 Fatal error: %r(Class X contains 1 abstract method and must therefore be declared abstract or implement the remaining methods \(X::f\)|Class X declares abstract method f\(\) and must therefore be declared abstract)%r shutdown;
fatal error in a coroutine: 255 Fatal error: %r(Class X contains 1 abstract method and must therefore be declared abstract or implement the remaining methods \(X::f\)|Class X declares abstract method f\(\) and must therefore be declared abstract)%r shutdown;
fatal error in a destructor of a value: 255 Fatal error: %r(Class X contains 1 abstract method and must therefore be declared abstract or implement the remaining methods \(X::f\)|Class X declares abstract method f\(\) and must therefore be declared abstract)%r shutdown;
fatal error in a destructor of what failed: 255 handled; Fatal error: %r(Class X contains 1 abstract method and must therefore be declared abstract or implement the remaining methods \(X::f\)|Class X declares abstract method f\(\) and must therefore be declared abstract)%r shutdown;
failure in a handler: 255 RuntimeException from there; callback; shutdown;
failure in a callback of a scope: 255 RuntimeException from there; shutdown;
failure in a callback of a coroutine: 255 RuntimeException from there; shutdown;
failure in a coroutine: 255 finally; RuntimeException from there; callback; shutdown;
failure in a destructor of a value: 255 RuntimeException from there; shutdown;
failure in a destructor of what failed: 255 handled; RuntimeException from there; shutdown;
two failures: 255 RuntimeException one; RuntimeException two; shutdown;
independent roots go on: 255 below is cancelled; RuntimeException failure; root has worked; shutdown;
a second failure: 255 RuntimeException first; root is cancelled; RuntimeException second; shutdown;
in an independent root: 255 Exception why; caller has worked; spawned has worked; shutdown;
below the global scope: 0 caller is cancelled; shutdown;
in a shutdown function: %r(255|0)%r shutdown; Cannot await here: the coroutines have ended, it would never complete; Cannot await here: the coroutines have ended, it would never complete; %r(Fatal error: Uncaught RuntimeException: in shutdown|RuntimeException in shutdown;)%r
