--TEST--
ERR-8 A failure that waits in a coroutine that is held: dump() shows it, async.diagnostics warns of it
--INI--
async.diagnostics=1
async.unawaited_warning_ms=20
--FILE--
<?php
use function Async\{await, delay, dump, spawn, suspend};

require __DIR__ . '/kit.inc';

set_error_handler(function(int $level, string $text) { global $warned; $warned++; echo 'warning: ', preg_replace('~/\S+/~', '', $text), "\n"; return true; });
$held = spawn(function() { throw new LogicException('held'); });
$soon = spawn(function() { throw new LogicException('soon'); });
while (!$soon->isCompleted()) suspend();
ob_start();
dump();
echo preg_replace(['~/\S+/~', '~#1 running.*~'], ['', '#1'], ob_get_clean());
T\failure($soon);
for ($warned = 0; !$warned;) delay(1);
T\failure($held);
T\turns(50);
var_dump(ini_set('async.unawaited_warning_ms', '0'), ini_get('async.unawaited_warning_ms'));
?>
--EXPECT--
Async\dump: 1 coroutine in 1 scope
global scope, lifetime scope, open: 1 coroutine
  #1
  #2 failed, not awaited, spawned at err-8-unawaited.php:7: LogicException: held in err-8-unawaited.php:7
  #3 failed, not awaited, spawned at err-8-unawaited.php:8: LogicException: soon in err-8-unawaited.php:8
warning: coroutine #2, spawned at err-8-unawaited.php:7, failed 20 ms ago and has not been awaited: LogicException: held in err-8-unawaited.php:7. Await it, or release its object
warning: async.unawaited_warning_ms must be between 1 and 86400000, "0" given
bool(false)
string(2) "20"
