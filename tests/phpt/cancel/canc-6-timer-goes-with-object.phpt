--TEST--
CANC-6 the timer of a timeout goes with its object: the script does not stay for it, and many cost nothing
--FILE--
<?php
use function Async\{await, spawn, suspend, timeout};

require __DIR__ . '/kit.inc';

$start = hrtime(true);
$before = memory_get_usage();
for ($i = 0; $i < 20_000; $i++) timeout(600_000 + $i);
T\check('memory', memory_get_usage() - $before < 50_000, memory_get_usage() - $before);
for ($i = 0; $i < 100; $i++) await(spawn(fn() => suspend()), timeout(600_000));
spawn(function() { $unused = timeout(600_000); suspend(); });
register_shutdown_function(fn() => T\check('in time', T\ms($start) < 60_000, T\ms($start)));
?>
--EXPECT--
memory: yes
in time: yes
