--TEST--
H6 an error handler is called for the errors that its coroutine has set it for
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

$sees = function(int $mask) {
    $seen = [];
    set_error_handler(function($level, $text) use (&$seen) { $seen[] = $text; return true; }, $mask);
    for ($i = 0; $i < 3; $i++) {
        suspend();
        @trigger_error('notice', E_USER_NOTICE);
        suspend();
        @trigger_error('warning', E_USER_WARNING);
    }
    return implode(' ', array_unique($seen)) . ' ' . count($seen);
};
// and one that comes back, for those that it was set for
$comes_back = function(int $mask, int $inner) {
    $seen = [];
    set_error_handler(function($level, $text) use (&$seen) { $seen[] = $text; return true; }, $mask);
    suspend();
    set_error_handler(fn() => true, $inner);
    suspend();
    restore_error_handler();
    @trigger_error('notice', E_USER_NOTICE);
    @trigger_error('warning', E_USER_WARNING);
    return implode(' ', $seen);
};
echo implode(', ', T\all([spawn($comes_back, E_USER_NOTICE, E_ALL), spawn($comes_back, E_USER_WARNING, E_USER_NOTICE)])), "\n";
echo implode(', ', T\all(array_map(fn($mask) => spawn($sees, $mask), [E_USER_NOTICE, E_USER_WARNING, E_ALL]))), "\n";
?>
--EXPECT--
notice, warning
notice 3, warning 3, notice warning 6
