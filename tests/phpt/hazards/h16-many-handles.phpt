--TEST--
H16 a call that uses more handles than most waits for the last of them, too
--EXTENSIONS--
ds
--INI--
async.seed=0
--FILE--
<?php
use Ds\Vector;
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$all = array_map(fn($n) => new Vector([$n]), range(0, 39));
$last = end($all);
$goes_on = false;
$reader = spawn(function() use ($last, &$goes_on) {
    $last->map(function($n) use (&$goes_on) { echo "begins\n"; while (!$goes_on) suspend(); echo "ends\n"; return $n; });
});
T\begun($reader);
$taker = spawn(function() use ($all) { $taken = new Vector(); $taken->push(...$all); echo count($taken), " taken\n"; });
T\begun($taker);
$goes_on = true;
T\all([$reader, $taker]);
?>
--EXPECT--
begins
ends
40 taken
