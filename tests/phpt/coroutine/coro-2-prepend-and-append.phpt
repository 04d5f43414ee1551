--TEST--
CORO-2 with files before and after the script, the script ends with the last of them, or with an exception
--FILE--
<?php
require __DIR__ . '/kit.inc';

T\work_in([
    'before.php' => '<?php echo "before\n"; $before = Async\spawn(function() { try { Async\delay(20); echo "spawned before\n"; } finally { echo "its end\n"; } });',
    'after.php' => '<?php echo "after\n"; Async\spawn(fn() => print("spawned after\n"));',
]);
$options = '-d auto_prepend_file=' . getcwd() . '/before.php -d auto_append_file=' . getcwd() . '/after.php';
echo T\php('echo "script\n";', $options)->output, "--\n";
$failed = T\php('while (!$before->isStarted()) Async\suspend(); throw new LogicException("of the script");', $options);
echo strtok($failed->output, "\n"), "\n";
T\check('the coroutine ends first', preg_match('/its end\n.*Uncaught LogicException/s', $failed->output) === 1 && !$failed->has('spawned before'), $failed);
var_dump($failed->status);
?>
--EXPECT--
before
script
after
spawned after
spawned before
its end
--
before
the coroutine ends first: yes
int(255)
