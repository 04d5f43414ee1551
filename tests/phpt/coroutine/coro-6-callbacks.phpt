--TEST--
CORO-6 suspension inside the callbacks of internal functions, several coroutines in the same function at once
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

$cases = [
    'array_map' => fn($p, $n) => array_map(function($a, $b) use ($p) { $p(); return $a . $b; }, [$n, 2, 3], ['x', 'y', $n]),
    'array_filter' => fn($p, $n) => array_filter(range(0, 9), function($k) use ($p, $n) { $p(); return $k % 3 === $n % 3; }, ARRAY_FILTER_USE_KEY),
    'array_reduce' => fn($p, $n) => array_reduce([1, 2, 3], function($c, $x) use ($p) { $p(); return "$c$x"; }, $n),
    'array_walk' => function($p, $n) { $a = [1, 2, 3]; array_walk($a, function(&$v, $k, $n) use ($p) { $p(); $v = "$n-$k-$v"; }, $n); return $a; },
    'array_walk_recursive' => function($p, $n) { $a = [1, [2, [3]]]; array_walk_recursive($a, function(&$v) use ($p, $n) { $p(); $v = $v * $n; }); return $a; },
    'preg_replace_callback' => fn($p, $n) => preg_replace_callback("/[a-c]+$n?/", function($m) use ($p, $n) { $p(); return "<$m[0]:" . preg_replace_callback('/./', function($m) use ($p) { $p(); return ord($m[0]); }, "$n") . '>'; }, "abc{$n} xbb cb$n"),
    'preg_replace_callback_array' => fn($p, $n) => preg_replace_callback_array(['/a/' => function() use ($p, $n) { $p(); return $n; }, '/b/' => function() use ($p) { $p(); return 'B'; }], 'abab'),
    'call_user_func_array' => fn($p, $n) => call_user_func_array(function(...$all) use ($p) { $p(); return $all; }, [$n, 'b' => 2]),
    'iterator_apply' => function($p, $n) { $seen = []; $it = new ArrayIterator([1, 2, $n]); iterator_apply($it, function() use ($p, $it, &$seen) { $p(); $seen[] = $it->current(); return true; }); return $seen; },
    'iterator_to_array' => fn($p, $n) => iterator_to_array((function() use ($p, $n) { yield $n => 1; $p(); yield 'k' => 2; })()),
    'CallbackFilterIterator' => fn($p, $n) => array_values(iterator_to_array(new CallbackFilterIterator(new ArrayIterator(range(1, 6)), function($x) use ($p, $n) { $p(); return $x > $n; }))),
    'ReflectionFunction' => fn($p, $n) => (new ReflectionFunction(function($x) use ($p) { $p(); return $x + 1; }))->invoke($n),
    'array_multisort beside' => function($p, $n) { $a = [3, $n, 1]; $p(); array_multisort($a); return $a; },
    'mb_ereg beside json' => fn($p, $n) => json_decode(json_encode(array_map(function($x) use ($p) { $p(); return [$x]; }, [$n]))),
];
$log = [];
foreach ($cases as $name => $case) {
    $expected = $jobs = [];
    foreach ([1, 2, 3, 4] as $n) {
        $expected[$n] = $case(fn() => null, $n);
    }
    foreach ([1, 2, 3, 4] as $n) {
        $jobs[$n] = spawn($case, function() use ($n, &$log) {
            $log[] = $n;
            suspend();
            if ($n % 2) suspend();
        }, $n);
    }
    $results = T\all($jobs);
    T\check($name, $results === $expected, $results);
}
// the pauses of different coroutines alternate
$switches = 0;
foreach ($log as $i => $n) $switches += $i > 0 && $log[$i - 1] !== $n;
T\check('interleaved', $switches > count($log) / 2, "$switches of " . count($log));
?>
--EXPECT--
array_map: yes
array_filter: yes
array_reduce: yes
array_walk: yes
array_walk_recursive: yes
preg_replace_callback: yes
preg_replace_callback_array: yes
call_user_func_array: yes
iterator_apply: yes
iterator_to_array: yes
CallbackFilterIterator: yes
ReflectionFunction: yes
array_multisort beside: yes
mb_ereg beside json: yes
interleaved: yes
