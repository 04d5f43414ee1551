--TEST--
H6 code of the JIT that has waited leaves its trace where that trace's own exits say
--EXTENSIONS--
opcache
--SKIPIF--
<?php
$options = '-n -d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing -d opcache.jit_hot_loop=8';
$code = 'function f() { for ($i = $sum = 0; $i < 1000; $i++) $sum += $i; return $sum; } echo f();';
$output = shell_exec(PHP_BINARY . " $options -r " . escapeshellarg($code) . ' 2>&1');
if (preg_match('/Cannot load|Failed loading/', (string) $output)) $output = '499500'; // it is in the executable
if ($output !== '499500') die('skip the JIT of this PHP does not work without Spindle either');
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    use function Async\{await, spawn, suspend};
    function adds(array $values): array
    {
        $sum = 0;
        $last = $count = 0;
        foreach ($values as $key => $value) {
            suspend();
            $sum += $value; // here it leaves its trace, if the value is no integer
            $last = $key;
            $count++;
        }
        return [$sum, $last, $count];
    }
    function joins(array $values): string
    {
        $text = '';
        for ($i = 0, $n = count($values); $i < $n; $i++) {
            suspend();
            $text .= $values[$i];
        }
        return strlen($text) . $text[$n >> 1];
    }
    $numbers = [...range(1, 400), 0.5, ...range(1, 10), 0.5];
    $texts = [...array_fill(0, 400, 'x'), 7, ...array_fill(0, 10, 'x'), 7];
    for ($round = 0; $round < 3; $round++) {
        $jobs = [];
        for ($i = 0; $i < 3; $i++) array_push($jobs, spawn('adds', $numbers), spawn('joins', $texts));
        foreach ($jobs as $job) $found[json_encode(await($job))] = true;
    }
    echo implode(' ', array_keys($found)), ', jit ', opcache_get_status(false)['jit']['on'] ? 'on' : 'off', "\n";
    PHP;
echo T\php($code, '-d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing -d opcache.jit_hot_loop=8');
?>
--EXPECT--
[0] [80256,411,412] "412x", jit on
