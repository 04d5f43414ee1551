--TEST--
CORO-9 callbacks that throw: the others still run, the result is kept, the exceptions are unhandled ones
--FILE--
<?php
require __DIR__ . '/kit.inc';

$ended = T\php(<<<'PHP'
    use function Async\{await, spawn};
    set_exception_handler(function(Throwable $e) {
        echo get_class($e), ': ';
        foreach ($e instanceof Async\CompositeException ? $e->getExceptions() : [$e] as $one) echo get_class($one), ' ', $one->getMessage(), '; ';
    });
    $c = spawn(fn() => 'result');
    $c->onFinally(function() { throw new RuntimeException('one'); });
    $c->onFinally(function() { echo "another runs\n"; });
    if ($argc === 1) $c->onFinally(function() { throw new LogicException('two'); });
    echo $c->getId() > 0 ? "begin\n" : '';
    PHP);
echo $ended, "\n";
?>
--EXPECT--
[255] begin
another runs
Async\CompositeException: LogicException two; RuntimeException one; 
