--TEST--
ERR-3 exceptions of destructors at the end of a coroutine, of generators closed there, and of output callbacks are not lost
--FILE--
<?php
require __DIR__ . '/kit.inc';

$codes = [
    'destructor of a local' => 'final class D { function __destruct() { throw new DomainException("x"); } } $e = T\failure(spawn(function() { $d = new D; return 1; })); echo get_class($e);',
    'destructor of a captured' => 'final class D { function __destruct() { throw new DomainException("x"); } } (function() { $d = new D; spawn(function() use ($d) { suspend(); }); })(); delay(20); echo "NOT REACHED";',
    'generator' => '$e = T\failure(spawn(function() { $g = (function() { try { yield 1; } finally { throw new DomainException("x"); } })(); $g->current(); return 1; })); echo get_class($e);',
    'while cancelled' => 'final class D { function __destruct() { throw new DomainException("x"); } } $c = spawn(function() { $d = new D; delay(600_000); }); T\begun($c); $c->cancel(); $e = T\failure($c); echo get_class($e), " < ", get_class($e->getPrevious());',
    'finally that returns' => '$c = spawn(function() { try { delay(600_000); } finally { return "returned"; } }); T\begun($c); $c->cancel(); echo await($c);',
];
foreach ($codes as $name => $code) {
    $ended = T\php("use function Async\\{await, delay, spawn, suspend};\nrequire '" . __DIR__ . "/kit.inc';\n$code");
    echo "$name: [$ended->status] ", trim(preg_replace('/\s*(PHP )?Fatal error: +(Uncaught \w+).*/s', ' $2', $ended->output)), "\n";
}
?>
--EXPECT--
destructor of a local: [0] DomainException
destructor of a captured: [255] Uncaught DomainException
generator: [0] DomainException
while cancelled: [0] DomainException < Async\CancellationException
finally that returns: [0] returned
