--TEST--
CORO-8 error handlers are each coroutine's own: set and restored around suspensions, they do not disturb each other
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

set_error_handler(function(int $level, string $text) { echo "script's handler: $text\n"; return true; });

$guarded = function(string $name, int $before, int $inside): string {
    ob_start();
    for ($i = 0; $i < $before; $i++) suspend();
    trigger_error("$name before");
    set_error_handler(function(int $level, string $text) use ($name) { echo "handler of $name: $text\n"; return true; });
    for ($i = 0; $i < $inside; $i++) {
        suspend();
        trigger_error("$name inside");
    }
    restore_error_handler();
    suspend();
    trigger_error("$name after");
    return ob_get_clean();
};
// b sets after a, a restores before b: they do not nest
echo implode(T\all([spawn($guarded, 'a', 0, 2), spawn($guarded, 'b', 1, 2), spawn($guarded, 'c', 0, 1)]));
trigger_error('script at the end');
?>
--EXPECT--
script's handler: a before
handler of a: a inside
handler of a: a inside
script's handler: a after
script's handler: b before
handler of b: b inside
handler of b: b inside
script's handler: b after
script's handler: c before
handler of c: c inside
script's handler: c after
script's handler: script at the end
