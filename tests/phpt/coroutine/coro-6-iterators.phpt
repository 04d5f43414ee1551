--TEST--
CORO-6 iterators in foreach, SPL iterators and array unpacking that suspend at every step
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

final class Steps implements Iterator
{
    private int $at = 0;
    public function __construct(private string $name, private int $count, private array &$log) {}
    private function step(): void { $this->log[] = $this->name; suspend(); }
    public function current(): mixed { $this->step(); return $this->name . $this->at; }
    public function key(): mixed { $this->step(); return $this->at; }
    public function next(): void { $this->step(); $this->at++; }
    public function rewind(): void { $this->step(); $this->at = 0; }
    public function valid(): bool { $this->step(); return $this->at < $this->count; }
}

$log = [];
$jobs = [
    'foreach' => spawn(function() use (&$log) { $out = []; foreach (new Steps('f', 3, $log) as $k => $v) $out[$k] = $v; return $out; }),
    'nested' => spawn(function() use (&$log) { $out = []; foreach (new Steps('n', 2, $log) as $v) foreach (new Steps('m', 2, $log) as $w) $out[] = $v . $w; return $out; }),
    'unpacked' => spawn(function() use (&$log) { return [...new Steps('u', 3, $log)]; }),
    'arguments' => spawn(function() use (&$log) { return (fn(...$all) => $all)(...new Steps('a', 2, $log)); }),
    'IteratorIterator' => spawn(function() use (&$log) { return iterator_to_array(new LimitIterator(new IteratorIterator(new Steps('l', 9, $log)), 1, 2)); }),
    'yield from' => spawn(function() use (&$log) { return iterator_to_array((function() use (&$log) { yield from new Steps('y', 2, $log); })()); }),
    'broken off' => spawn(function() use (&$log) { foreach (new Steps('b', 9, $log) as $v) if ($v === 'b1') break; return $v; }),
    'list' => spawn(function() use (&$log) { $out = []; foreach ((function() use (&$log) { foreach (new Steps('x', 2, $log) as $v) yield [$v, [$v]]; })() as [$p, [$q]]) $out[] = $p . $q; return $out; }),
];
foreach (T\all($jobs) as $name => $result) {
    echo "$name: ", json_encode($result), "\n";
}
$changes = 0;
foreach ($log as $i => $name) $changes += $name !== ($log[$i + 1] ?? $name);
T\check('they took turns', $changes > 40, implode('', $log));
?>
--EXPECT--
foreach: ["f0","f1","f2"]
nested: ["n0m0","n0m1","n1m0","n1m1"]
unpacked: ["u0","u1","u2"]
arguments: ["a0","a1"]
IteratorIterator: {"1":"l1","2":"l2"}
yield from: ["y0","y1"]
broken off: "b1"
list: ["x0x0","x1x1"]
they took turns: yes
