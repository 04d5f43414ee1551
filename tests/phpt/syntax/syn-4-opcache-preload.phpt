--TEST--
SYN-4 files with operators are preloaded, run and linked into all that comes later
--SKIPIF--
<?php
if (!extension_loaded('Zend OPcache')) die('skip opcache is not loaded');
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

$dir = T\work_in(['preload.php' => <<<'PHP'
    <?php
    opcache_compile_file(__DIR__ . '/compiled.php');
    require __DIR__ . '/required.php';
    echo 'preloading ', await spawn required(), "\n";
    PHP, 'compiled.php' => <<<'PHP'
    <?php
    interface Works { public function work(int ...$x); }
    function compiled(array &$lines): int { $lines[] = __LINE__; suspend; return __LINE__; }
    final class Compiled implements Works {
        public function work(int ...$x) { return await spawn $this->own(...$x); }
        private function own(int ...$x) { return array_sum($x); }
        public static function on(?self $on) { $c = spawn $on?->work(1, 2); return $c ? await $c : 'none'; }
    }
    PHP, 'required.php' => "<?php\nfunction required() { return await spawn fn() => 'required ' . __LINE__; }\n", 'bad.php' => "<?php\n\nspawn 1;\n", 'page.php' => <<<'PHP'
    <?php
    $lines = [];
    echo json_encode([await spawn compiled($lines), $lines, (new Compiled)->work(1, 2, 3), Compiled::on(null), Compiled::on(new Compiled), required(), await spawn required(), count(opcache_get_status()['preload_statistics']['functions'])]), "\n";
    PHP]);
foreach (['disable', 'tracing'] as $jit) {
    $options = "-d opcache.enable=1 -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M -d opcache.jit=$jit -d opcache.preload=$dir";
    echo T\command(T\interpreter("$options/preload.php") . ' page.php');
    echo short(T\command(T\interpreter("$options/bad.php") . ' page.php')), "\n";
}
?>
--EXPECT--
[0] preloading required 2
[3,[3],6,"none",3,"required 2","required 2",2]
[1] 
Parse error: syntax error, unexpected integer "1": spawn expects a call or a closure in bad.php on line 3

[0] preloading required 2
[3,[3],6,"none",3,"required 2","required 2",2]
[1] 
Parse error: syntax error, unexpected integer "1": spawn expects a call or a closure in bad.php on line 3
