--TEST--
CORO-2 a script that returns, or whose last statement is in an included file, still waits for its coroutines and their children
--FILE--
<?php
require __DIR__ . '/kit.inc';

$endings = [
    'return' => 'return 5;',
    'exception caught by nobody else' => '$x = 1;',
    'in an include' => 'file_put_contents($f = tempnam(sys_get_temp_dir(), "inc"), "<?php return;"); include $f; unlink($f);',
    '__halt_compiler' => '__halt_compiler(); what follows is no code',
];
foreach ($endings as $name => $ending) {
    $ended = T\php(<<<PHP
        Async\spawn(function() {
            usleep(20_000);
            echo 'one ';
            Async\spawn(function() { Async\delay(20); echo 'two'; });
        });
        $ending
        PHP);
    echo "$name: $ended\n";
}
?>
--EXPECT--
return: [0] one two
exception caught by nobody else: [0] one two
in an include: [0] one two
__halt_compiler: [0] one two
