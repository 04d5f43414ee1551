--TEST--
CORO-11 async.stack_size decides how deep calls may nest over the C stack; what fits stays unharmed beside others
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    function nested(int $n): int
    {
        return $n === 0 ? (Async\suspend() ?? 0) : 1 + array_map('nested', [$n - 1])[0];
    }
    $jobs = [];
    for ($i = 0; $i < 20; $i++) $jobs[] = Async\spawn('nested', DEPTH);
    foreach ($jobs as $job) $sum = ($sum ?? 0) + Async\await($job);
    echo "sum $sum\n";
    PHP;
$run = fn(int $depth, string $size) => T\php(str_replace('DEPTH', $depth, $code), "-d async.stack_size=$size");

echo $run(100, '256K');
echo $run(6000, '16M');
$ended = $run(6000, '256K');
T\check('too deep for 256K', $ended->status === 255 && !$ended->has('sum') && preg_match('/error/i', $ended->output), $ended);
// fibers of PHP have their own setting
echo T\php('ini_set("fiber.stack_size", "32M"); function f($n) { return $n ? 1 + array_map("f", [$n - 1])[0] : 0; }
    Async\spawn(function() { $f = new Fiber("f"); $f->start(6000); echo "in a fiber: ", $f->getReturn(); });', '-d async.stack_size=256K'), "\n";
?>
--EXPECT--
[0] sum 2000
[0] sum 120000
too deep for 256K: yes
[0] in a fiber: 6000
