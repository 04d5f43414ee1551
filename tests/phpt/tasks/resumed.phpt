--TEST--
GEN-1 a task resumes its generator as Generator::current() and send() do
--FILE--
<?php
use Async\Task\{Scheduler, SystemCall};

/** A system call that notes a value, and answers with the number of notes. */
function note(mixed $value): SystemCall
{
    return new SystemCall(function ($task, $scheduler) use ($value) {
        $GLOBALS['seen'][] = $value;
        $task->setSendValue(count($GLOBALS['seen']));
        $scheduler->schedule($task);
    });
}

function &byReference() { $a = note('a'); $got = yield $a; $b = note("b$got"); yield $b; }
function inner($name) { $got = yield note("$name inner"); return "$name got $got"; }
function outer($name) { $result = yield from inner($name); yield note($result); $last = yield from inner("$name again"); yield note($last); }
function ofArray() { yield from [note('x'), note('y')]; yield note('z'); }
function ofIterator() { yield from new ArrayIterator([note('i')]); yield note('j'); }
function caught() { try { yield note('before'); throw new Exception('own'); } catch (Exception $e) { yield note($e->getMessage()); } finally { yield note('finally'); } }
function inCall() { $text = sprintf('%s-%s', yield note('first'), yield note('second')); yield note($text); }
function empty_() { return; yield; }
function returnsFirst() { if (true) return; yield note('never'); }

$makers = [
    'by reference' => fn() => byReference(), 'delegates' => fn() => outer('o'), 'an array' => fn() => ofArray(),
    'an iterator' => fn() => ofIterator(), 'catches' => fn() => caught(), 'in a call' => fn() => inCall(), 'empty' => fn() => empty_(),
    'returns' => fn() => returnsFirst(),
];
$asTask = function (Generator $generator): array {
    $GLOBALS['seen'] = [];
    $scheduler = new Scheduler();
    $scheduler->newTask($generator);
    $scheduler->run();
    return $GLOBALS['seen'];
};
foreach ($makers as $name => $make) {
    echo $name, ': ', implode(', ', $asTask($make())), "\n";
}

echo "\nbegun before, at its second yield: ";
$generator = ofArray();
$generator->current();
$generator->next();
echo implode(', ', $asTask($generator)), "\n";

echo 'one inner generator of two tasks: ';
$seen = [];
$shared = (function () { for ($i = 1; $i < 6; $i++) yield note("shared $i"); })();
$scheduler = new Scheduler();
foreach (['p', 'q'] as $name) $scheduler->newTask((function () use ($shared, $name) { yield from $shared; yield note("$name ends"); })());
$scheduler->run();
echo implode(', ', $seen), "\n";

echo 'a trace: ';
$scheduler->newTask((function () { yield; try { throw new Exception; } catch (Exception $e) { echo $e->getTraceAsString(), "\n"; } })());
$scheduler->run();
?>
--EXPECTF--
by reference: a, b1
delegates: o inner, o got 1, o again inner, o again got 3
an array: x, y, z
an iterator: i, j
catches: before, own, finally
in a call: first, second, 1-2
empty: 
returns: 

begun before, at its second yield: y, z
one inner generator of two tasks: shared 1, shared 1, shared 2, shared 3, shared 4, shared 5, p ends, q ends
a trace: #0 [internal function]: {closure%S}()
#1 %sresumed.php(%d): Async\Task\Scheduler->run()
#2 {main}
