--TEST--
A child process has its own schedulers
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
$q->fiber(function () use ($q) { for ($i = 0; $i < 3; $i++) { $q->turn(); } echo getmypid() === $GLOBALS['p'] ? "parent fiber\n" : "child fiber\n"; });
$p = getmypid();
$q->turn();
$pid = pcntl_fork();
if ($pid === 0) { $q2 = new Queue; echo "child ", $q2->turn('ok'), "\n"; exit(0); }
pcntl_waitpid($pid, $s); var_dump($s);
for ($i = 0; $i < 4; $i++) $q->turn();
?>
--EXPECT--
child ok
int(0)
parent fiber
