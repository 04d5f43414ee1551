--TEST--
SYN-4 opcache's file cache: code that was compiled with the operators is never used without them
--SKIPIF--
<?php
if (!extension_loaded('Zend OPcache')) die('skip opcache is not loaded');
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

$dir = T\work_in(['script.php' => <<<'PHP'
    <?php
    function task(array &$list): string { $list[] = __LINE__; suspend; return 'task ' . __LINE__; }
    $list = [];
    echo await spawn task($list), json_encode($list), include 'included.php', "\n";
    PHP, 'included.php' => "<?php\nreturn await spawn fn() => ' included ' . __LINE__ . file_get_contents(__FILE__, offset: __COMPILER_HALT_OFFSET__);\n__halt_compiler(); data", 'plain.php' => "<?php\necho strrev('nialp'), \"\\n\";\n"]);
mkdir('cache');
$cache = "-d opcache.enable=1 -d opcache.enable_cli=1 -d opcache.jit=disable -d opcache.file_cache_only=1 -d opcache.file_cache=$dir/cache";
$without = without($cache);
$files = fn() => count(iterator_to_array(new RecursiveIteratorIterator(new RecursiveDirectoryIterator('cache', FilesystemIterator::SKIP_DOTS))));
$run = function (string $name, string $command) use ($files) {
    foreach (['script.php', 'plain.php'] as $file) echo "$name: ", trim(short(T\command("$command $file"))), "\n";
    echo "    {$files()} files\n";
};
T\check('there is a php without it', !T\command("$without -m")->has('spindle'));
foreach (['first', 'second'] as $time) {
    $run("$time time", T\interpreter($cache));
    $run("$time time, off", T\interpreter("$cache -d async.syntax=0"));
    $run("$time time, without", $without);
}
exec('rm -r cache');
?>
--EXPECT--
there is a php without it: yes
first time: [0] task 2[2] included 2 data
first time: [0] plain
    3 files
first time, off: [255] 
Parse error: syntax error, unexpected identifier "spawn", expecting "," or ";" in script.php on line 4
first time, off: [0] plain
    4 files
first time, without: [255] 
Parse error: syntax error, unexpected identifier "spawn", expecting "," or ";" in script.php on line 4
first time, without: [0] plain
    5 files
second time: [0] task 2[2] included 2 data
second time: [0] plain
    5 files
second time, off: [255] 
Parse error: syntax error, unexpected identifier "spawn", expecting "," or ";" in script.php on line 4
second time, off: [0] plain
    5 files
second time, without: [255] 
Parse error: syntax error, unexpected identifier "spawn", expecting "," or ";" in script.php on line 4
second time, without: [0] plain
    5 files
