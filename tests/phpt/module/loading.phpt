--TEST--
Loading the module twice, listing it, and scripts that never spawn
--FILE--
<?php
require __DIR__ . '/kit.inc';

preg_match('/extension=("?)([^"\s]*spindle[^"\s]*)/', getenv('TEST_PHP_EXTRA_ARGS') ?: '', $m);
$path = $m[2] ?? 'spindle';
$twice = T\php('echo "runs\n"; Async\await(Async\spawn(fn() => print("spawns\n")));', '-d extension=' . escapeshellarg($path));
T\check('twice', $twice->has("runs\nspawns\n") && $twice->status === 0, $twice);
T\check('listed', preg_match('/^spindle$/m', T\command(T\interpreter('-m'))->output));
$codes = ['' => 0, 'exit(3);' => 3, 'echo 1; fwrite(STDERR, "x");' => 0, 'throw new Exception;' => 255, 'trigger_error("x", E_USER_ERROR);' => 255, 'register_shutdown_function(fn() => exit(4));' => 4, 'posix_kill(posix_getpid(), SIGTERM);' => 143, '$f = new Fiber(fn() => Fiber::suspend(1)); echo $f->start();' => 0, 'function f() { f(); } set_error_handler(fn() => 1); echo 1;' => 0];
foreach ($codes as $code => $status) {
    $with = T\php($code);
    T\check($code ?: 'an empty script', $with->status === $status, $with);
}
?>
--EXPECT--
twice: yes
listed: yes
an empty script: yes
exit(3);: yes
echo 1; fwrite(STDERR, "x");: yes
throw new Exception;: yes
trigger_error("x", E_USER_ERROR);: yes
register_shutdown_function(fn() => exit(4));: yes
posix_kill(posix_getpid(), SIGTERM);: yes
$f = new Fiber(fn() => Fiber::suspend(1)); echo $f->start();: yes
function f() { f(); } set_error_handler(fn() => 1); echo 1;: yes
