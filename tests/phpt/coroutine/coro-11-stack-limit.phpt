--TEST--
CORO-11 PHP's own check of the stack, since 8.3, holds for a coroutine's stack: endless recursion is an Error that can be caught
--SKIPIF--
<?php if (PHP_VERSION_ID < 80300) die('skip the check came with PHP 8.3'); ?>
--INI--
async.stack_size=256K
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

function deep(int $n, bool $waits = false): int { global $depth; $depth = $n; if ($waits && $n === 100) suspend(); return array_map('deep', [$n + 1])[0]; }
class Deep { function __get($name) { return (new Deep)->$name; } }
$attempt = function (callable $recurses) {
    try { return $recurses(); } catch (Error $e) { return get_class($e) . ': ' . preg_replace('~\d+ bytes~', 'N bytes', $e->getMessage()); }
};
$ways = ['callbacks' => fn() => deep(0), 'after a wait' => fn() => deep(0, true), 'magic' => fn() => (new Deep)->x];
foreach ($ways as $name => $way) {
    $results = T\all([spawn($attempt, $way), spawn($attempt, $way)]);
    echo "$name: ", implode(' | ', $results), "\n";
}
// it is the coroutine's stack that counts, and main's in main, before and after
$in_coroutine = await(spawn(function () use ($attempt) { global $depth; $attempt(fn() => deep(0)); return $depth; }));
$attempt(fn() => deep(0));
T\check('main has more', $depth > 3 * $in_coroutine && $in_coroutine > 100, $depth, $in_coroutine);
T\check('and the coroutine again', abs(await(spawn(function () use ($attempt) { global $depth; $attempt(fn() => deep(0)); return $depth; })) - $in_coroutine) < 20);
// a fiber in a coroutine has its own
$fiber = spawn(function () use ($attempt) { $fiber = new Fiber(fn() => $attempt(fn() => deep(0))); $fiber->start(); return $fiber->getReturn(); });
echo await($fiber), "\n";
?>
--EXPECTF--
callbacks: Error: Maximum call stack size of N bytes (zend.max_allowed_stack_size - zend.reserved_stack_size) reached. Infinite recursion? | Error: Maximum call stack size of N bytes (zend.max_allowed_stack_size - zend.reserved_stack_size) reached. Infinite recursion?
after a wait: Error: Maximum call stack size of N bytes (zend.max_allowed_stack_size - zend.reserved_stack_size) reached. Infinite recursion? | Error: Maximum call stack size of N bytes (zend.max_allowed_stack_size - zend.reserved_stack_size) reached. Infinite recursion?
magic: Error: Maximum call stack size of N bytes (zend.max_allowed_stack_size - zend.reserved_stack_size) reached. Infinite recursion? | Error: Maximum call stack size of N bytes (zend.max_allowed_stack_size - zend.reserved_stack_size) reached. Infinite recursion?
main has more: yes
and the coroutine again: yes
Error: Maximum call stack size of N bytes (zend.%s) reached. Infinite recursion?
