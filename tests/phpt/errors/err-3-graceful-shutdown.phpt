--TEST--
ERR-3 gracefulShutdown(): with an exception, with null, from the script, twice, with wrong values
--FILE--
<?php
require __DIR__ . '/kit.inc';

$codes = [
    'null' => 'spawn(function() { delay(5); gracefulShutdown(); delay(1); echo "NOT REACHED"; }); delay(600_000); echo "NOT REACHED";',
    'exception' => 'spawn(function() { delay(5); gracefulShutdown(new DomainException("reason")); }); delay(600_000); echo "NOT REACHED";',
    'from the script' => 'gracefulShutdown(); echo "goes on to its next suspension "; delay(1); echo "NOT REACHED";',
    'twice' => 'gracefulShutdown(); gracefulShutdown(); delay(1);',
    'later coroutines run' => 'register_shutdown_function(fn() => print("end")); $c = spawn(function() { try { delay(600_000); } finally { spawn(function() { delay(5); echo "new one "; }); } }); begun($c); gracefulShutdown(); delay(1);',
    'wrong type' => 'try { gracefulShutdown("reason"); } catch (TypeError $e) { echo get_class($e); }',
    'no coroutine' => 'gracefulShutdown(null); echo "fine";',
];
foreach ($codes as $name => $code) {
    $ended = T\php("use function Async\\{delay, gracefulShutdown, spawn};\nuse function T\\begun;\nrequire '" . __DIR__ . "/kit.inc';\nbegun(spawn(function() { try { delay(600_000); } finally { echo 'cleaned '; } }));\n$code\n" . ($name === 'wrong type' ? 'exit;' : ''));
    $text = preg_match('/Uncaught \w+: \w+/', $ended->output, $m) ? "$m[0]" : $ended->output;
    echo "$name: [$ended->status] ", $ended->has('cleaned') || $name === 'wrong type' ? '' : 'NOT CLEANED ', str_replace('cleaned ', '', $text), "\n";
}
?>
--EXPECT--
null: [0] 
exception: [255] Uncaught DomainException: reason
from the script: [0] goes on to its next suspension 
twice: [0] 
later coroutines run: [0] new one end
wrong type: [0] TypeError
no coroutine: [0] fine
