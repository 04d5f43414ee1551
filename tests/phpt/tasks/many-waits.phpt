--TEST--
Thousands of waits, more than descriptors may be open: for one stream, for one awaitable, and no processor time while all wait
--FILE--
<?php
use Async\Task\Scheduler;
use function Async\{spawn, suspend, timeout};
use function Async\Task\waitForRead;

require __DIR__ . '/kit.inc';

[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
stream_set_blocking($a, false);
$s = new Scheduler;
$count = 0;
for ($i = 0; $i < 5000; $i++) {
    $s->newTask((function() use ($a, &$count) {
        do {
            yield waitForRead($a);
        } while (fread($a, 1) === '');
        $count++;
    })());
}
$s->newTask((function() use ($b) {
    for ($i = 0; $i < 50; $i++) {
        fwrite($b, str_repeat('x', 100));
        yield;
    }
})());
$s->run();
var_dump($count);

$go = false;
$awaited = spawn(function() use (&$go) { while (!$go) suspend(); return 1; });
for ($i = 0; $i < 5000; $i++) {
    $s->newTask((function() use ($awaited, &$count) { $count += yield $awaited; })());
}
$s->newTask((function() use (&$go) { yield; yield; $go = true; })());
$s->run();
var_dump($count);

function used(): float
{
    $used = getrusage();
    return $used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec'] + ($used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']) / 1e6;
}
$s->newTask((function() use ($a) { yield waitForRead($a); echo fread($a, 10), "\n"; })());
$s->newTask((function() use ($b) {
    $before = used();
    yield timeout(500);
    var_dump(used() - $before < 0.25);
    fwrite($b, 'the end');
})());
$s->run();
?>
--EXPECT--
int(5000)
int(10000)
bool(true)
the end
