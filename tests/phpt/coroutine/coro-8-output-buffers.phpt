--TEST--
CORO-8 the output buffers of each coroutine are its own, nested, with callbacks, and unclosed ones are not lost
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

$jobs = [];
foreach ([1, 2, 3] as $n) {
    $jobs[$n] = spawn(function() use ($n) {
        $levels = [ob_get_level()];
        ob_start();
        for ($i = 0; $i < $n; $i++) {
            ob_start($i % 2 ? fn(string $s) => strrev($s) : null);
            echo "<$n";
            suspend();
            $levels[] = ob_get_level();
        }
        for ($i = 0; $i < $n; $i++) {
            delay(2);
            echo "$i>";
            ob_end_flush();
        }
        return ob_get_clean() . ' ' . json_encode($levels);
    });
}
ob_start();
echo 'the script ';
suspend();
suspend();
$level = ob_get_level();
$text = ob_get_clean();
var_dump($text, $level);
foreach (T\all($jobs) as $result) echo $result, "\n";

// a coroutine starts without the buffers of the one that spawned it
ob_start();
T\all([spawn(function() { echo 'level ', ob_get_level(), "\n"; })]);
ob_end_clean();

// who forgets to close one still gets the text out
T\all([spawn(function() { ob_start(); ob_start(); echo "forgotten\n"; })]);
suspend();
echo "the end\n";
?>
--EXPECT--
string(11) "the script "
int(1)
<10> [0,2]
<2>02<1> [0,2,3]
<3>1>03<3<2> [0,2,3,4]
level 0
forgotten
the end
