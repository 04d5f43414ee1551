--TEST--
ERR-8 what fails before a coroutine or a callback has begun names a place of the program: of the spawn, or of the callback
--INI--
async.seed=0
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\Scope;
use function Async\{await, globalScope, onFinally, spawn};

function by_reference(&$x, $y = 1) { return 'called'; }
class C { static function stat(&$x) {} function method(&$x) {} function __invoke(&$x) {} }

foreach ([fn() => spawn(fn($a) => 1, b: 3), fn() => spawn(fn($a) => 1, 1, a: 3), fn() => globalScope()->spawn(fn($a) => 1, b: 3)] as $spawn) {
    $e = T\failure($spawn());
    echo $e->getMessage(), ' in ', basename($e->getFile()), ':', $e->getLine(), "\n";
}
foreach ([fn() => spawn(function(&$x) {}, 5), fn() => spawn('by_reference', 5), fn() => spawn('C::stat', 5), fn() => spawn([new C, 'method'], 5),
    fn() => spawn(new C, 5), fn() => spawn('by_reference', x: 5), fn() => globalScope()->spawn(sort(...), [2, 1]),
] as $spawn) {
    await($spawn());
}

echo "callbacks\n";
$c = spawn(fn() => 1);
$c->onFinally(function(&$c) { echo get_class($c), "\n"; });
await($c);
T\alone();
$c->onFinally(function(&$c) { echo get_class($c), "\n"; });
T\alone();
spawn(function() { onFinally(function(&$c) { echo get_class($c), "\n"; }); });
T\alone();
foreach ([function(&$e) { echo get_class($e), "\n"; }, 'by_reference', 'C::stat', [new C, 'method'], new C, function(&$s, &$c, $e) {}] as $handler) {
    $s = new Scope;
    $s->setExceptionHandler($handler);
    $s->spawn(fn() => throw new Exception('q'));
    T\alone();
}
$s = new Scope;
$s->setChildScopeExceptionHandler(function(&$e) {});
$below = Scope::inherit($s);
$below->spawn(fn() => throw new Exception('q'));
T\alone();
$s = new Scope;
$s->onFinally(function(&$s) { echo get_class($s), "\n"; });
$s->spawn(fn() => 1);
T\alone();
?>
--EXPECTF--
Unknown named parameter $b in err-8-places.php:9
Named parameter $a overwrites previous argument in err-8-places.php:9
Unknown named parameter $b in err-8-places.php:9

Warning: {closure%S}(): Argument #1 ($x) must be passed by reference, value given in %serr-8-places.php on line 13

Warning: by_reference(): Argument #1 ($x) must be passed by reference, value given in %serr-8-places.php on line 13

Warning: C::stat(): Argument #1 ($x) must be passed by reference, value given in %serr-8-places.php on line 13

Warning: C::method(): Argument #1 ($x) must be passed by reference, value given in %serr-8-places.php on line 13

Warning: C::__invoke(): Argument #1 ($x) must be passed by reference, value given in %serr-8-places.php on line 14

Warning: by_reference(): Argument #1 ($x) must be passed by reference, value given in %serr-8-places.php on line 14

Warning: sort(): Argument #1 ($array) must be passed by reference, value given in %serr-8-places.php on line 14
callbacks

Warning: {closure%S}(): Argument #1 ($c) must be passed by reference, value given in %serr-8-places.php on line 21
Async\Coroutine

Warning: {closure%S}(): Argument #1 ($c) must be passed by reference, value given in %serr-8-places.php on line 24
Async\Coroutine

Warning: {closure%S}(): Argument #1 ($c) must be passed by reference, value given in %serr-8-places.php on line 26
Async\Coroutine

Warning: {closure%S}(): Argument #1 ($e) must be passed by reference, value given in %serr-8-places.php on line 28
Exception

Warning: by_reference(): Argument #1 ($x) must be passed by reference, value given in %serr-8-places.php on line 6

Warning: C::stat(): Argument #1 ($x) must be passed by reference, value given in %serr-8-places.php on line 7

Warning: C::method(): Argument #1 ($x) must be passed by reference, value given in %serr-8-places.php on line 7

Warning: C::__invoke(): Argument #1 ($x) must be passed by reference, value given in %serr-8-places.php on line 7

Warning: {closure%S}(): Argument #1 ($s) must be passed by reference, value given in %serr-8-places.php on line 28

Warning: {closure%S}(): Argument #2 ($c) must be passed by reference, value given in %serr-8-places.php on line 28

Warning: {closure%S}(): Argument #1 ($e) must be passed by reference, value given in %serr-8-places.php on line 35

Warning: {closure%S}(): Argument #1 ($s) must be passed by reference, value given in %serr-8-places.php on line 40
Async\Scope
