--TEST--
Errors that internal code reports while the variables of a coroutine's outermost function are freed
--FILE--
<?php
set_error_handler(static function (int $level, string $text, string $file, int $line): bool {
    echo preg_replace('/\d+ bytes/', 'N bytes', $text), ' in ', basename($file), " on line $line\n";
    foreach (debug_backtrace() as $frame) {
        echo '  ', preg_replace('/^\{closure:.*\}$/', '{closure}', $frame['function']), isset($frame['line']) ? " called on line $frame[line]" : '', "\n";
    }
    return true;
});

/** Leaves a stream whose last bytes are written as it is closed. */
function leave(): void
{
    $full = fopen('/dev/full', 'w');
    stream_filter_append($full, 'convert.base64-encode', STREAM_FILTER_WRITE);
    fwrite($full, 'a');
}

function outer(): void
{
    leave();
}

echo "by itself:\n";
Async\await(Async\spawn('leave'));
echo "called:\n";
Async\await(Async\spawn('outer'));
echo "a generator:\n";
Async\await(Async\spawn(static function (): void {
    $left = (static function () {
        $full = fopen('/dev/full', 'w');
        stream_filter_append($full, 'convert.base64-encode', STREAM_FILTER_WRITE);
        fwrite($full, 'a');
        yield;
    })();
    $left->current();
}));
restore_error_handler();
echo "no handler:\n";
Async\await(Async\spawn('leave'));
?>
--EXPECT--
by itself:
Unknown: Write of N bytes failed with errno=28 No space left on device in Unknown on line 0
  {closure}
called:
outer(): Write of N bytes failed with errno=28 No space left on device in errors-while-locals-are-freed.php on line 20
  {closure} called on line 20
  outer
a generator:
Unknown: Write of N bytes failed with errno=28 No space left on device in Unknown on line 0
  {closure}
no handler:

Notice: Unknown: Write of 4 bytes failed with errno=28 No space left on device in Unknown on line 0
