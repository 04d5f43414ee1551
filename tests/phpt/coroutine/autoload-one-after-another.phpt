--TEST--
H3 IO-9 who has loaded what another one waits for, and needs what that one loads, waits for it in turn
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
T\work_in([
    'first.php' => '<?php Async\delay(50); const FIRST = 1;',
    'second.php' => '<?php Async\delay(5); require_once "first.php"; const SECOND = 2;',
]);
spl_autoload_register(function(string $class) {
    if ($class === 'First') {
        T\turns(50);
        eval('interface First {}');
    } elseif ($class === 'Second') {
        T\turns(5);
        eval('class Second implements First {}');
    }
});

// the other one has been told that what it waited for is there, and has not run yet
$first = spawn(fn() => [interface_exists('First'), class_exists('Second')]);
T\begun($first);
$second = spawn(fn() => class_exists('Second'));
echo json_encode(T\all([$first, $second])), "\n";

$first = spawn(function() { require_once 'first.php'; require_once 'second.php'; return [defined('FIRST'), defined('SECOND')]; });
T\begun($first);
$second = spawn(function() { require_once 'second.php'; return defined('SECOND'); });
echo json_encode(T\all([$first, $second])), "\n";
?>
--EXPECT--
[[true,true],true]
[[true,true],true]
