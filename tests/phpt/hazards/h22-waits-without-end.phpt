--TEST--
H22 waits without end take no thread from others: more FIFOs than threads, and the calls that their writers need
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
const MANY = 150;
T\work_in(['synced' => '']);
for ($i = 0; $i < MANY; $i++) posix_mkfifo("fifo$i", 0600);

$ticks = new T\Ticks;
$readers = [];
for ($i = 0; $i < MANY; $i++) $readers[] = spawn(fn() => trim(fgets(@fopen("fifo$i", 'r'))));
T\parked(...$readers);
T\check('ticking', $ticks->more());

// each of these runs on a thread, too
var_dump(await(spawn(fn() => gethostbyaddr('127.0.0.1'))) === gethostbyaddr('127.0.0.1'));
var_dump(await(spawn(function() { $f = fopen('synced', 'r+'); fwrite($f, 'x'); return fsync($f); })));
echo await(spawn(fn() => shell_exec('echo from a shell')));
T\check('all readers wait', array_filter($readers, fn($r) => $r->isCompleted()) === []);

// a part of them is cancelled, the others get their writers
foreach ($readers as $i => $reader) if ($i % 3 === 0) $reader->cancel();
for ($i = 0; $i < MANY; $i++) if ($i % 3) $writers[] = spawn(fn() => file_put_contents("fifo$i", "line $i\n"));
$right = 0;
foreach ($readers as $i => $reader) {
    $right += $i % 3 === 0 ? T\failure($reader) instanceof Async\AsyncCancellation : await($reader) === "line $i";
}
T\all($writers);
echo "$right\n";
$ticks->stop();
?>
--EXPECT--
ticking: yes
bool(true)
bool(true)
from a shell
all readers wait: yes
150
