--TEST--
Calls that cannot be redirected at the first spawn, as when no descriptor is left to read of memory: a warning, and the script goes on
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    while ($file = @fopen(__FILE__, 'r')) {
        $files[] = $file;
    }
    array_splice($files, 0, 3); // for the event loop
    $task = Async\spawn(fn() => 'done');
    unset($files);
    echo Async\await($task), "\n";
    PHP;
file_put_contents($file = tempnam(sys_get_temp_dir(), 'spindle-phpt-'), "<?php\n$code");
$ended = T\command('sh -c ' . escapeshellarg('ulimit -n 64; exec ' . T\interpreter('-d display_errors=1 -d log_errors=0') . " $file"));
unlink($file);
echo preg_replace('~ in /\S+ on~', ' in FILE on', $ended), "\n";
?>
--EXPECTF--
[0] 
Warning: Spindle could not redirect all calls, and some will block all coroutines: %s, and %d more in FILE on line 6
done
