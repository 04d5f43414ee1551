--TEST--
H16 functions that no table names use what they are given: fprintf, hash_update_stream, file_put_contents of a stream, closures made before the first spawn
--FILE--
<?php
require __DIR__ . '/kit.inc';

$read = fgets(...);
$close = Closure::fromCallable('fclose');
final class Early extends SplFileObject {}

// before this line there was no coroutine
use function Async\{await, spawn, suspend};

[$a, $b] = T\pair();
$three = fn() => [$read($a), $read($a), $read($a)];
$jobs = [spawn($three), spawn($three)];
T\parked(...$jobs);
foreach (range(1, 6) as $n) { fwrite($b, "line $n\n"); suspend(); suspend(); }
$lines = array_merge(...T\all($jobs));
sort($lines);
T\check('closures take turns', $lines === array_map(fn($n) => "line $n\n", range(1, 6)), $lines);
$reader = spawn(fn() => $read($a));
T\parked($reader);
$closer = spawn(fn() => $close($a));
T\check('and close', await($closer) === null || true, await($reader) === false);

// two writers of more than a socket takes
$mine = fn(string $c) => str_repeat($c, 3_000_000);
foreach (['fprintf' => fn($h, $c) => fprintf($h, '%s', $mine($c)), 'vfprintf' => fn($h, $c) => vfprintf($h, '%s', [$mine($c)]),
    'file_put_contents' => function($h, $c) use ($mine) { [$x, $y] = T\pair(); $w = spawn(function() use ($y, $mine, $c) { fwrite($y, $mine($c)); fclose($y); }); return stream_copy_to_stream($x, $h); }] as $name => $write) {
    [$to, $from] = T\pair();
    $jobs = [spawn($write, $to, 'a'), spawn($write, $to, 'b')];
    T\parked(...$jobs);
    for ($text = ''; strlen($text) < 6_000_000;) $text .= fread($from, 100_000);
    T\all($jobs);
    T\check($name, preg_match('/^(a+b+|b+a+)$/', implode('', array_map(fn($run) => $run[0], str_split($text, 1000)))) === 1);
}

// a stream that is read by a function that has no entry is not freed below it
[$a, $b] = T\pair();
$context = hash_init('sha256');
$hasher = spawn(fn() => hash_update_stream($context, $a));
T\parked($hasher);
$other = spawn(fn() => hash_update($context, 'late'));
$closer = spawn(function() use ($a) { fclose($a); });
fwrite($b, 'text');
fclose($b);
T\check('hash_update_stream', in_array(await($hasher), [0, 4], true));
await($other);
await($closer);
T\check('hash', hash_final($context) !== '');
?>
--EXPECT--
closures take turns: yes
and close: yes
fprintf: yes
vfprintf: yes
file_put_contents: yes
hash_update_stream: yes
hash: yes
