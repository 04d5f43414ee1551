--TEST--
exit in a fiber ends the script without finally blocks
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
register_shutdown_function(function() { echo "shutdown\n"; });
$f = $q->fiber(function () use ($q) { try { $q->turn(); exit("exits\n"); } finally { echo "not: finally\n"; } });
$q->turn(); $q->turn(); $q->turn();
echo "not reached\n";
?>
--EXPECT--
exits
shutdown
