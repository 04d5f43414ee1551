--TEST--
IO-3 a function that has read a file yields after the call, when nothing of it is open, and within it if it reads for long
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';
T\work_in(['a' => 'text a', 'big' => str_repeat('0123456789abcdef', 1 << 18)]);

/** How many descriptors of the file are open. */
function open_ones(string $name): int
{
    return count(array_filter(glob('/proc/self/fd/*'), fn($fd) => @readlink($fd) === realpath($name)));
}

$turns = [];
$jobs = [];
for ($i = 0; $i < 20; $i++) {
    $jobs[] = spawn(function() use ($i, &$turns) {
        $turns[] = "begin $i";
        $text = file_get_contents('a');
        $turns[] = "end $i";
        return [$text, open_ones('a')];
    });
}
$results = array_map(fn($job) => await($job), $jobs);
T\check('all have read', array_unique(array_column($results, 0)) === ['text a']);
T\check('others began meanwhile', $turns[1] === 'begin 1' && $turns[19] === 'begin 19');
echo 'open: ', implode(' ', array_unique(array_column($results, 1))), "\n";

// Nothing follows in its coroutine, whose end lets others run.
$whole = spawn('file_get_contents', 'a');
$seen = spawn(fn() => $whole->isCompleted());
var_dump(await($seen), await($whole));

$ticks = 0;
$stop = false;
$ticker = spawn(function() use (&$ticks, &$stop) { while (!$stop) { $ticks++; Async\suspend(); } });
$reader = spawn(function() use (&$ticks) { $before = $ticks; $sum = md5_file('big'); return [$sum, $ticks - $before]; });
[$sum, $meanwhile] = await($reader);
$stop = true;
await($ticker);
T\check('one that reads for long', $sum === md5_file('big') && $meanwhile > 4, "$meanwhile turns");

$cancelled = spawn(function() {
    try {
        $text = file_get_contents('a');
        return 'not cancelled';
    } catch (Async\CancellationException) {
        return 'thrown by the call, ' . (isset($text) ? 'after' : 'before') . ' the assignment';
    }
});
Async\suspend();
$cancelled->cancel();
echo await($cancelled), "\n";

echo await(spawn(function() {
    $fiber = new Fiber('file_get_contents');
    $fiber->start('a');
    return $fiber->getReturn();
})), "\n";
?>
--EXPECT--
all have read: yes
others began meanwhile: yes
open: 0
bool(true)
string(6) "text a"
one that reads for long: yes
thrown by the call, before the assignment
text a
