--TEST--
CORO-12 a fatal error, an exit and a lack of memory in the script while coroutines are suspended everywhere
--FILE--
<?php
require __DIR__ . '/kit.inc';

foreach (['trigger_error("on purpose", E_USER_ERROR);', 'exit(255);', '$x = str_repeat("x", 1 << 30);', 'throw new Exception("on purpose");'] as $end) {
    $ended = T\php(<<<PHP
        use function Async\{await, delay, spawn, suspend};
        final class D { function __destruct() { echo ''; } }
        [\$a, \$b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        \$file = fopen(__FILE__, 'r');
        spawn(fn() => delay(600_000));
        \$reader = spawn(fn() => fgets(\$a));
        spawn(fn() => await(\$reader));
        spawn(fn() => usort(\$GLOBALS['list'], fn() => suspend() ?? delay(600_000)));
        spawn(function() { \$d = new D; foreach ((function() { \$d = new D; yield 1; sleep(600); })() as \$x); });
        spawn(function() { ob_start(); \$p = popen('sleep 0.1', 'r'); fgets(\$p); });
        spawn(function() { \$f = new Fiber(function() { \$d = new D; delay(600_000); }); \$f->start(); });
        spawn(function() { new D; throw new Async\CancellationException; });
        \$list = [3, 2, 1];
        delay(10);
        $end
        PHP);
    T\check($end, $ended->status === 255, $ended);
}
?>
--EXPECT--
trigger_error("on purpose", E_USER_ERROR);: yes
exit(255);: yes
$x = str_repeat("x", 1 << 30);: yes
throw new Exception("on purpose");: yes
