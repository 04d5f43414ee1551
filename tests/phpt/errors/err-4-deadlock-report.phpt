--TEST--
ERR-4 a deadlock: a warning for each with its id, where it was spawned, where it waits and for what; then DeadlockError, status 255
--FILE--
<?php
require __DIR__ . '/kit.inc';

$ended = T\php(<<<'PHP'
    use function Async\{await, spawn, suspend};
    for ($i = 0; $i < 100; $i++) spawn(fn() => null); // ids that are no line numbers
    suspend();
    $one = spawn(function() use (&$two) {
        await($two);
    });
    $two = spawn(function() use (&$three) {
        array_map(function($c) {
            return await($c);
        }, [$three]);
    });
    $three = spawn(function() use (&$one) {
        try {
            await($one);
        } finally {
            echo "finally\n";
        }
    });
    echo "ids {$one->getId()} {$two->getId()} {$three->getId()}\n";
    PHP);
preg_match('/^ids (\d+) (\d+) (\d+)$/m', $ended->output, $ids);
preg_match_all('/^Warning: (.*?)(?=\n\n|\nFatal|\nfinally|\z)/ms', $ended->output, $m);
$warnings = $m[1];
var_dump(count($warnings));
foreach ([[$ids[1], 5, 6, $ids[2]], [$ids[2], 8, 10, $ids[3]], [$ids[3], 13, 15, $ids[1]]] as [$id, $spawned, $suspended, $awaits]) {
    $mine = array_filter($warnings, fn($w) => preg_match("/\b$id\b/", $w) && preg_match("/:$spawned\b/", $w) && preg_match("/:$suspended\b/", $w));
    T\check("line $spawned", count($mine) === 1 && preg_match("/\b$awaits\b/", reset($mine)), $warnings);
}
T\check('cleaned up', $ended->has("finally\n"), $ended);
T\check('ends with it', $ended->has('Fatal error: Uncaught Async\DeadlockError') && $ended->status === 255, $ended);
T\check('once', substr_count($ended->output, 'Uncaught') === 1, $ended);
?>
--EXPECT--
int(3)
line 5: yes
line 8: yes
line 13: yes
cleaned up: yes
ends with it: yes
once: yes
