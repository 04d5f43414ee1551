--TEST--
CORO-10 protect(): a cancellation waits till the section is over, however it waits inside, and comes once
--FILE--
<?php
use function Async\{await, currentCoroutine, protect, spawn, suspend};

require __DIR__ . '/kit.inc';

[$a, $b] = T\pair();
$log = [];
$c = spawn(function() use (&$log, $a) {
    try {
        $log[] = protect(function() use (&$log, $a) {
            $log[] = 'in';
            suspend();
            T\turns(10);
            usleep(10_000);
            $log[] = fgets($a);
            $log[] = protect(fn() => 'nested');
            T\turns(5);
            $log[] = 'out';
            return 'the value is lost';
        });
        $log[] = 'not reached';
    } catch (Async\CancellationException $e) {
        $log[] = $e->getMessage();
        T\turns(5);
        $log[] = 'once only';
    }
    return 'done';
});
T\begun($c);
$c->cancel(new Async\CancellationException('reason'));
T\turns(40);
fwrite($b, "a line");
fclose($b);
echo await($c), ': ', implode(', ', $log), "\n";

// values, exceptions and a cancellation of oneself inside
var_dump(protect(fn() => [1]));
echo T\failure(spawn(fn() => protect(fn() => throw new RangeException('x'))))::class, "\n";
$e = T\failure(spawn(function() {
    protect(function() { currentCoroutine()->cancel(); suspend(); echo "still inside\n"; });
    echo "not reached\n";
}));
echo get_class($e), "\n";
// an exception of the section and a cancellation at once: neither is swallowed
$both = spawn(fn() => protect(function() { T\turns(20); throw new RangeException('of the section'); }));
T\begun($both);
$both->cancel();
$e = T\failure($both);
$classes = [get_class($e)];
while ($e = $e->getPrevious()) $classes[] = get_class($e);
sort($classes);
echo implode(' ', $classes), "\n";
try {
    protect('strlen');
} catch (TypeError $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECTF--
done: in, a line, nested, out, reason, once only
array(1) {
  [0]=>
  int(1)
}
RangeException
still inside
Async\CancellationException
%SRangeException
Async\protect(): Argument #1 ($critical) must be of type Closure, string given
