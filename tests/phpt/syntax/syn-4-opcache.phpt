--TEST--
SYN-4 opcache keeps what operators become: compiled ahead, served from shared memory, optimised or not, JIT, changed files
--SKIPIF--
<?php
if (!extension_loaded('Zend OPcache')) die('skip opcache is not loaded');
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

$dir = T\work_in(['library.php' => <<<'PHP'
    <?php
    if (!class_exists('Library', false)) {
        class Library {
            public static function work(array &$lines, int $n = 2): int { for ($i = 0; $i < $n; $i++) { $lines[] = __LINE__; suspend; } return $n; }
            public function go(array $x) { return await spawn $this->own(...$x); }
            private function own(...$a) { return await spawn function use ($a) { return $a; }; }
            public ?Library $none = null;
        }
    }
    $lines = [];
    $library = new Library;
    return [await spawn Library::work($lines, n: 3), $lines, $library->go([1, 'k' => 2]), spawn $library->none?->go([])];
    PHP, 'page.php' => <<<'PHP'
    <?php
    $file = __DIR__ . '/library.php';
    $say = fn($value) => print(json_encode($value) . ' ');
    $say([opcache_is_script_cached($file), opcache_compile_file($file), opcache_is_script_cached($file)]);
    $first = include $file;
    $say($first);
    for ($i = 0; $i < 5; $i++) if ((include $file) !== $first) $say('another');
    $status = opcache_get_status();
    $say([$status['scripts'][$file]['hits'] >= 6, array_key_exists(__FILE__, $status['scripts']), $status['jit']['on']]);
    PHP, 'hot.php' => <<<'PHP'
    <?php
    function add(int $n, int &$sum): int { $sum += $n; return $sum; }
    function sums(int $times): int { $sum = 0; for ($i = 1; $i <= $times; $i++) { $c = spawn add($i, $sum); if (await $c !== $sum) return -1; } return $sum; }
    function nested(int $n): int { return $n === 0 ? 0 : 1 + await spawn nested($n - 1); }
    function many(int $n): array { $all = []; for ($i = 0; $i < $n; $i++) $all[] = spawn function use ($i) { suspend; return $i; }; $r = []; foreach ($all as $c) $r[] = await $c; return $r; }
    echo sums(2000), ' ', nested(100), ' ', array_sum(many(200)), ' ', sums(10), "\n";
    PHP]);

$on = '-d opcache.enable=1 -d opcache.enable_cli=1';
foreach (['0', '0x7FFEBFFF', '0x7FFFFFFF'] as $level) {
    foreach (['disable', 'tracing', 'function'] as $jit) {
        $options = "$on -d opcache.optimization_level=$level -d opcache.jit=$jit -d opcache.jit_buffer_size=" . ($jit === 'disable' ? 0 : '32M');
        echo "$level $jit: ", T\command(T\interpreter($options) . ' page.php'), "\n    ", T\command(T\interpreter($options) . ' hot.php');
    }
}

echo "-- files that change\n";
$changes = <<<'PHP'
    $write = function (string $file, string $code) { static $time = 1_000_000_000; file_put_contents("$file.new", "<?php\n$code"); touch("$file.new", $time += 10); rename("$file.new", $file); };
    $see = function () { try { return include 'changes.php'; } catch (ParseError $e) { return $e->getMessage() . ' on line ' . $e->getLine(); } };
    foreach (['return 1;', 'return await spawn fn() => 2;', "\nreturn await spawn;\nspawn 3;", 'return await spawn fn() => [4, __LINE__];', 'return 5;'] as $code) {
        $write('changes.php', $code);
        echo json_encode([$see(), $see()]), ' ', var_export(opcache_is_script_cached(getcwd() . '/changes.php'), true), "\n";
    }
    PHP;
echo T\php($changes, "$on -d opcache.validate_timestamps=1 -d opcache.revalidate_freq=0"), "\n";

echo "-- checked\n";
file_put_contents('good.php', "<?php\nspawn function { echo 'not run'; };\nawait \$x;\n");
file_put_contents('bad.php', "<?php\n\nspawn 1;\n");
foreach (['', $on] as $options) {
    foreach (['good.php', 'bad.php'] as $file) echo T\command(T\interpreter($options) . " -l $file"), "\n";
}
?>
--EXPECT--
0 disable: [0] [false,true,true] [3,[4,4,4],{"0":1,"k":2},null] [true,true,false] 
    [0] 2001000 100 19900 55
0 tracing: [0] [false,true,true] [3,[4,4,4],{"0":1,"k":2},null] [true,true,true] 
    [0] 2001000 100 19900 55
0 function: [0] [false,true,true] [3,[4,4,4],{"0":1,"k":2},null] [true,true,true] 
    [0] 2001000 100 19900 55
0x7FFEBFFF disable: [0] [false,true,true] [3,[4,4,4],{"0":1,"k":2},null] [true,true,false] 
    [0] 2001000 100 19900 55
0x7FFEBFFF tracing: [0] [false,true,true] [3,[4,4,4],{"0":1,"k":2},null] [true,true,true] 
    [0] 2001000 100 19900 55
0x7FFEBFFF function: [0] [false,true,true] [3,[4,4,4],{"0":1,"k":2},null] [true,true,true] 
    [0] 2001000 100 19900 55
0x7FFFFFFF disable: [0] [false,true,true] [3,[4,4,4],{"0":1,"k":2},null] [true,true,false] 
    [0] 2001000 100 19900 55
0x7FFFFFFF tracing: [0] [false,true,true] [3,[4,4,4],{"0":1,"k":2},null] [true,true,true] 
    [0] 2001000 100 19900 55
0x7FFFFFFF function: [0] [false,true,true] [3,[4,4,4],{"0":1,"k":2},null] [true,true,true] 
    [0] 2001000 100 19900 55
-- files that change
[0] [1,1] true
[2,2] true
["syntax error, unexpected integer \"3\": spawn expects a call or a closure on line 4","syntax error, unexpected integer \"3\": spawn expects a call or a closure on line 4"] false
[[4,2],[4,2]] true
[5,5] true

-- checked
[0] No syntax errors detected in good.php

[255] 
Parse error: syntax error, unexpected integer "1": spawn expects a call or a closure in bad.php on line 3
Errors parsing bad.php

[0] No syntax errors detected in good.php

[255] 
Parse error: syntax error, unexpected integer "1": spawn expects a call or a closure in bad.php on line 3
Errors parsing bad.php
