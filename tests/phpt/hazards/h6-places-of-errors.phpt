--TEST--
H6 while a constant expression waits in an error handler, what others throw is from their own place
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in(['constants.php' => <<<'PHP'
    <?php







    class A { const X =
        B::Y; }
    class B { const Y = TEXT + TEXT; }
    PHP]);
require 'constants.php';
define('TEXT', '5 apples');

$place = fn(Throwable $e) => basename($e->getFile()) . ':' . $e->getLine();
$parked = false;
$beside = spawn(function() use (&$place, &$parked) {
    while (!$parked) suspend();
    return $place(new Exception);
});
T\begun($beside);
$done = false;
$seen = [];
$evaluates = spawn(function() use (&$done, &$seen) {
    set_error_handler(function($level, $text, $file, $line) use (&$done, &$seen) {
        $seen[] = basename($file) . ":$line";
        while (!$done) suspend();
        return true;
    });
    return A::X;
});
T\begun($evaluates);
$parked = true;
T\check('the place of another one', await($beside) === basename(__FILE__) . ':' . 25, $beside->getResult());
$done = true;
echo await($evaluates), ' ', implode(' ', $seen), "\n";
?>
--EXPECTF--
the place of another one: yes
10 constants.php:%d constants.php:%d
