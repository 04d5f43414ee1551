--TEST--
H15 a read of a file that fails tells its own errno, though it gives way
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

T\work_in(['file' => 'content']);
$done = false;
$others = spawn(function () use (&$done): void {
    while (!$done) {
        @fopen('nowhere', 'r');
        suspend();
    }
});
$reader = spawn(function (): void {
    $file = fopen('file', 'a');
    for ($n = 0; $n < 20; $n++) {
        @fread($file, 10);
        $errors[error_get_last()['message']] = true;
    }
    echo implode("\n", array_keys($errors)), "\n";
});
await($reader);
$done = true;
await($others);
?>
--EXPECT--
fread(): Read of 8192 bytes failed with errno=9 Bad file descriptor
