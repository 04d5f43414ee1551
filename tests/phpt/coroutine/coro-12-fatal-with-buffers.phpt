--TEST--
CORO-12 a fatal error while output buffers are open, in the failing coroutine, in others and in the script: no text is lost or doubled
--FILE--
<?php
require __DIR__ . '/kit.inc';

$ended = T\php(<<<'PHP'
    use function Async\{delay, spawn, suspend};
    ob_start();
    echo "text of the script\n";
    spawn(function() { ob_start(); echo "text of another\n"; delay(600_000); });
    spawn(function() {
        ob_start();
        ob_start(fn(string $s) => strtoupper($s));
        echo "text of the failing one\n";
        suspend();
        trigger_error('on purpose', E_USER_ERROR);
    });
    register_shutdown_function(function() { echo "text of the shutdown function\n"; });
    delay(600_000);
    PHP);
foreach (['text of the script', 'TEXT OF THE FAILING ONE', 'on purpose', 'text of the shutdown function'] as $text) {
    echo substr_count(strtolower($ended->output), strtolower($text)), "\n";
}
T\check('another', substr_count($ended->output, 'text of another') <= 1);
var_dump($ended->status);
?>
--EXPECT--
1
1
1
1
another: yes
int(255)
