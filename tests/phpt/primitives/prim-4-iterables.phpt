--TEST--
PRIM-4 awaitAll() and its kin, and iterate(): arrays, iterators, aggregates and generators, which may suspend or throw
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Channel, Future};
use function Async\{awaitAll, awaitFirst, iterate, spawn, suspend};

$f = Future::completed(...);
attempt('array object', fn() => awaitAll(new ArrayObject(['a' => $f(1), 'b' => $f(2)])));
attempt('iterator', fn() => awaitAll(new ArrayIterator([3 => $f(1)])));
attempt('aggregate of an aggregate', fn() => awaitAll(new class($f) implements IteratorAggregate { public function __construct(private $f) {} public function getIterator(): Traversable { return new ArrayObject([($this->f)(7)]); } }));
attempt('generator that suspends', fn() => awaitAll((function() use ($f) { yield 'a' => $f(1); suspend(); yield 'b' => spawn(fn() => 2); })()));
attempt('generator that throws', fn() => awaitAll((function() use ($f) { yield $f(1); throw new LogicException('of the generator'); })()));
attempt('keys twice', fn() => awaitAll((function() use ($f) { yield 'k' => $f(1); yield 'k' => $f(2); })()));
attempt('strange keys', fn() => awaitAll((function() use ($f) { yield 1.7 => $f(1); yield true => $f(2); yield null => $f(3); yield '5' => $f(4); })()));
attempt('objects as keys', fn() => awaitAll((function() use ($f) { yield new stdClass => $f(1); })()));
attempt('generator in use', function() use ($f) { $g = (function() use ($f) { yield $f(1); yield $f(2); })(); $g->next(); return awaitAll($g); });
attempt('channel of awaitables', function() use ($f) { $c = new Channel(2); $c->send($f(1)); $c->send($f(2)); $c->close(); return awaitAll($c); });
attempt('aggregate that throws', fn() => awaitAll(new class implements IteratorAggregate { public function getIterator(): Iterator { throw new LogicException('getIterator'); } }));
foreach (['rewind', 'valid', 'current', 'key', 'next'] as $method) {
    $hostile = new class($f, $method) implements Iterator {
        private int $at = 0;
        public function __construct(private $f, private string $fails) {}
        private function maybe(string $name) { suspend(); if ($name === $this->fails) throw new LogicException("of $name()"); }
        public function rewind(): void { $this->maybe('rewind'); }
        public function valid(): bool { $this->maybe('valid'); return $this->at < 2; }
        public function current(): mixed { $this->maybe('current'); return ($this->f)($this->at); }
        public function key(): mixed { $this->maybe('key'); return $this->at; }
        public function next(): void { $this->maybe('next'); $this->at++; }
    };
    attempt("$method() throws", fn() => awaitAll($hostile));
    attempt("$method() throws in iterate()", fn() => iterate($hostile, fn($f, $key) => print("call $key\n"), 1));
}
attempt('by reference', function() use ($f) { $x = $f(1); $a = ['r' => &$x]; return awaitAll($a); });
attempt('changed meanwhile', function() use ($f) { $o = new ArrayObject([$f(1)]); return awaitAll((function() use ($o, $f) { foreach ($o as $k => $v) { if (count($o) < 4) $o[] = $f(count($o)); yield $k => $v; } })()); });
attempt('released', function() { iterate((function() { try { yield 1; yield 2; } finally { echo "the generator's finally\n"; } })(), fn() => false, 1); });
?>
--EXPECT--
array object: {"a":1,"b":2}
iterator: {"3":1}
aggregate of an aggregate: [7]
generator that suspends: {"a":1,"b":2}
generator that throws: LogicException: of the generator
keys twice: {"k":2}
strange keys: {"0":1,"1":2,"2":3,"5":4}
objects as keys: [1]
generator in use: Exception: Cannot rewind a generator that was already run
channel of awaitables: [1,2]
aggregate that throws: LogicException: getIterator
rewind() throws: LogicException: of rewind()
rewind() throws in iterate(): LogicException: of rewind()
valid() throws: LogicException: of valid()
valid() throws in iterate(): LogicException: of valid()
current() throws: LogicException: of current()
current() throws in iterate(): LogicException: of current()
key() throws: LogicException: of key()
key() throws in iterate(): LogicException: of key()
next() throws: LogicException: of next()
call 0
next() throws in iterate(): LogicException: of next()
by reference: {"r":1}
changed meanwhile: [1,1,2,3]
the generator's finally
released: null
