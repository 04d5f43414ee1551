--TEST--
IO-4 until the first spawn: no thread, no descriptor, no handler more, and blocking calls as ever
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/kit.inc';

function facts(): array
{
    preg_match_all('/^(SigCgt|SigBlk|SigIgn):\s+(\w+)/m', file_get_contents('/proc/self/status'), $m);
    return ['threads' => count(scandir('/proc/self/task')) - 2, 'descriptors' => array_filter(T\descriptors(), fn($d) => str_starts_with($d, 'anon_inode')), 'signals' => array_combine($m[1], $m[2])];
}
// other extensions may have some of their own
$count = 'echo count(scandir("/proc/self/task")) - 2, " ", count(array_filter(scandir("/proc/self/fd"), fn($fd) => str_starts_with((string) @readlink("/proc/self/fd/$fd"), "anon_inode")));';
$plain = T\command(escapeshellarg(PHP_BINARY) . ' -r ' . escapeshellarg($count));
$before = facts();
T\check('threads and descriptors of a plain PHP', $plain->output === $before['threads'] . ' ' . count($before['descriptors']), $plain);
usleep(1000);
[$a, $b] = T\pair();
fwrite($b, "x\n");
fgets($a);
shell_exec('true');
file_get_contents(__FILE__);
gethostbyaddr('127.0.0.1');
T\check('no more by calls', count(facts()['descriptors']) === count($before['descriptors']));
Async\suspend();
Async\delay(1);
Async\currentCoroutine();
Async\getCoroutines();
Async\timeout(1000);
$after = facts();
var_dump($after['threads'] === $before['threads'], $after['signals']['SigBlk'] === $before['signals']['SigBlk'], $after['signals']['SigIgn'] === $before['signals']['SigIgn']);

// a plain PHP has the same signal state at its start
$plain = T\command(escapeshellarg(PHP_BINARY) . ' -n -r ' . escapeshellarg('preg_match_all("/^Sig(Blk|Ign|Cgt):.*/m", file_get_contents("/proc/self/status"), $m); echo implode(" ", $m[0]);'));
$ours = T\php('preg_match_all("/^Sig(Blk|Ign|Cgt):.*/m", file_get_contents("/proc/self/status"), $m); echo implode(" ", $m[0]);');
T\check('signals', $plain->output === $ours->output, "$plain $ours");
?>
--EXPECT--
threads and descriptors of a plain PHP: yes
no more by calls: yes
bool(true)
bool(true)
bool(true)
signals: yes
