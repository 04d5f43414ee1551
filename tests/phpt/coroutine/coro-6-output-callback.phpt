--TEST--
CORO-6 CORO-8 an output callback that blocks: what it makes of the text is right, and goes where it belongs
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

$jobs = [];
foreach (['a', 'b', 'c'] as $name) {
    $jobs[$name] = spawn(function() use ($name) {
        ob_start();
        ob_start(function(string $text) use ($name) {
            usleep(1000);
            return strtoupper($text) . "($name)";
        });
        echo "$name one ";
        suspend();
        echo "$name two ";
        ob_end_flush();
        return ob_get_clean();
    });
}
echo implode("\n", T\all($jobs)), "\n";
?>
--EXPECT--
A ONE A TWO (a)
B ONE B TWO (b)
C ONE C TWO (c)
