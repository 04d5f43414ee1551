<?php
namespace Matrix;

final class SlowHeap extends \SplHeap
{
    protected function compare(mixed $a, mixed $b): int { pause(); return $a <=> $b; }
    public static function of(int ...$all): self { $heap = new self; foreach ($all as $x) $heap->insert($x); return $heap; }
}
final class SlowQueue extends \SplPriorityQueue
{
    public function compare(mixed $a, mixed $b): int { pause(); return $a <=> $b; }
}
final class SlowStorage extends \SplObjectStorage
{
    public function getHash(object $object): string { pause(); return \get_class($object); }
}
$array = static fn() => new \ArrayObject([5, 3, 8, 1, 9, 2]);
check('ArrayObject::uasort', static fn($a, int $n) => $a->uasort(static fn($x, $y) => compare($x, $y) * (3 - 2 * $n)), $array, static fn($a) => $a, in: 'ArrayObject::uasort');
check('ArrayObject::uksort', static fn($a, int $n) => $a->uksort(static fn($x, $y) => compare($x, $y) * (3 - 2 * $n)), $array, static fn($a) => $a, in: 'ArrayObject::uksort');
check('ArrayIterator::uasort', static fn($a, int $n) => $a->uasort(static fn($x, $y) => compare($x, $y) * (3 - 2 * $n)), static fn() => new \ArrayIterator([4, 2, 7]), static fn($a) => $a->getArrayCopy(), in: 'ArrayIterator::uasort');
check('ArrayObject::asort', static fn($a, int $n) => $a->asort(SORT_STRING), static fn() => new \ArrayObject(texts('b', 'a', 'c')), static fn($a) => \array_map(strval(...), $a->getArrayCopy()), in: 'ArrayObject::asort');
check('ArrayObject::append', static fn($a, int $n) => $n === 1 ? $a->uasort(compare(...)) : $a->append(4), $array, static fn($a) => $a->count(), in: 'ArrayObject::uasort', follows: true);
check('ArrayObject::exchangeArray', static fn($a, int $n) => \count($n === 1 ? [$a->uasort(compare(...))] : $a->exchangeArray([7])), $array, static fn($a) => $a->count(), in: 'ArrayObject::uasort', follows: true);
check('ArrayObject::serialize', static fn($a, int $n) => $a->serialize(), static fn() => new \ArrayObject(bags(1)), in: 'ArrayObject::serialize');
check('ArrayObject::unserialize', static fn($a, int $n) => $a->unserialize((new \ArrayObject(bags($n)))->serialize()), static fn() => new \ArrayObject, apart: true, in: ['ArrayObject::unserialize', 'ArrayObject::serialize']);
check('SplHeap::insert', static fn($h, int $n) => $h->insert(4 * $n), static fn() => SlowHeap::of(5, 1, 9), static fn($h) => \iterator_to_array(new \IteratorIterator($h), false), in: 'SplHeap::insert');
check('SplHeap::extract', static fn($h, int $n) => $h->extract(), static fn() => SlowHeap::of(5, 1, 9, 7, 2), static fn($h) => [$h->count(), $h->isCorrupted()], in: 'SplHeap::extract');
check('SplHeap::insert and extract', static fn($h, int $n) => $n === 1 ? $h->insert(8) : $h->extract(), static fn() => SlowHeap::of(5, 1, 9, 7, 2), static fn($h) => [$h->count(), $h->isCorrupted(), $h->extract(), $h->extract()], in: ['SplHeap::insert', 'SplHeap::extract']);
check('SplPriorityQueue::insert', static fn($q, int $n) => $q->insert("x$n", 3 * $n), static function () { $q = new SlowQueue; $q->insert('a', 1); $q->insert('b', 5); return $q; }, static fn($q) => [$q->extract(), $q->extract(), $q->extract(), $q->extract()], in: 'SplPriorityQueue::insert');
check('SplPriorityQueue::extract', static fn($q, int $n) => $q->extract(), static function () { $q = new SlowQueue; foreach ([3, 1, 4, 5] as $x) $q->insert("x$x", $x); return $q; }, static fn($q) => $q->count(), in: 'SplPriorityQueue::extract');
check('SplObjectStorage::attach', static fn($s, int $n) => $s->attach($n === 1 ? new \stdClass : new \ArrayObject, $n), static fn() => new SlowStorage, static fn($s) => $s->count(), in: 'SplObjectStorage::attach');
check('SplObjectStorage::addAll', static fn($s, int $n) => $s->addAll((static function () { $o = new \SplObjectStorage; $o->attach(new \stdClass); $o->attach(new \ArrayObject); return $o; })()), static fn() => new SlowStorage, static fn($s) => $s->count(), in: 'SplObjectStorage::addAll');
check('SplObjectStorage::detach', static fn($s, int $n) => $s->detach(new \stdClass), static function () { $s = new SlowStorage; $s->attach(new \stdClass); return $s; }, static fn($s) => $s->count(), in: 'SplObjectStorage::detach');
check('SplObjectStorage::serialize', static fn($s, int $n) => $s->serialize(), static function () { $s = new \SplObjectStorage; $s->attach(new Bag(1), new Bag(2)); return $s; }, in: 'SplObjectStorage::serialize');
check('SplFixedArray::setSize', static fn($a, int $n) => $a->setSize(1), static function () { $a = new \SplFixedArray(3); $a[1] = new class { function __destruct() { pause(); } }; $a[2] = new class { function __destruct() { pause(); } }; return $a; }, static fn($a) => $a->getSize(), in: 'SplFixedArray::setSize');
check('SplDoublyLinkedList::offsetUnset', static fn($l, int $n) => $l->offsetUnset(0), static function () { $l = new \SplDoublyLinkedList; foreach ([1, 2, 3] as $x) $l->push(new class { function __destruct() { pause(); } }); return $l; }, static fn($l) => $l->count(), in: 'SplDoublyLinkedList::offsetUnset');
foreach (['fgets', 'fgetc', 'current', 'fgetcsv'] as $method) {
    check("SplFileObject::$method", static fn($f, int $n) => $f->$method(), static fn() => new \SplFileObject(slow("a,b\nc,d\ne,f\n")), static fn($f) => $f->key(), in: "SplFileObject::$method", anywhere: $method === 'current');
}
check('SplFileObject::fread', static fn($f, int $n) => $f->fread(3), static fn() => new \SplFileObject(slow("some more text\n")), in: 'SplFileObject::fread');
check('SplFileObject::fwrite', static fn($f, int $n) => $f->fwrite("line $n\n"), static fn() => new \SplFileObject(slow(''), 'w+'), static fn($f) => [$f->rewind(), $f->fgets() !== '', $f->fgets() !== ''], in: 'SplFileObject::fwrite');
check('SplFileObject::fpassthru', static fn($f, int $n) => printed(static fn() => $f->fpassthru()), static fn() => new \SplFileObject(slow("some text\n")), in: 'SplFileObject::fpassthru');
check('SplFileObject::fputcsv', static fn($f, int $n) => $f->fputcsv(texts("a$n", 'b')), static fn() => new \SplFileObject(slow(''), 'w+'), in: 'SplFileObject::fputcsv');
check('SplFileObject::__construct', static fn($_, int $n) => noisily(fn() => new \SplFileObject(text("slow://none$n"))), in: 'SplFileObject::__construct');
check('SplFileInfo::openFile', static fn($i, int $n) => $i->openFile()->fgets(), static fn() => new \SplFileInfo(slow("line\n")), in: 'SplFileInfo::openFile');
check('SplFileInfo::getSize', static fn($i, int $n) => $i->getSize(), static fn() => new \SplFileInfo(slow("line\n")), in: 'SplFileInfo::getSize');
check('DirectoryIterator', static function ($_, int $n) { foreach (new \DirectoryIterator("slow://$n") as $file) $all[] = $file->getFilename(); return $all; }, anywhere: true);
check('CachingIterator', static function ($i, int $n) { $i->rewind(); return $i->hasNext(); }, static fn() => new \CachingIterator(new \ArrayIterator(texts('a', 'b', 'c'))), in: 'CachingIterator::rewind');
check('CallbackFilterIterator', static fn($_, int $n) => \iterator_to_array(new \CallbackFilterIterator(new \ArrayIterator([1, 2, 3, 4]), static function ($x) use ($n) { pause(); return $x % 2 === $n % 2; }), false), in: ['iterator_to_array', 'CallbackFilterIterator::accept']);
check('RecursiveIteratorIterator', static fn($_, int $n) => \iterator_to_array(new class(new \RecursiveArrayIterator([$n, [2, [3]]])) extends \RecursiveIteratorIterator { function beginChildren(): void { pause(); } function callHasChildren(): bool { pause(); return parent::callHasChildren(); } }, false), in: 'iterator_to_array');
check('RecursiveIteratorIterator::next', static function ($i, int $n) { $i->next(); return $i->valid(); }, static function () { $i = new class(new \RecursiveArrayIterator([1, [2, [3]], 4])) extends \RecursiveIteratorIterator { function callHasChildren(): bool { pause(); return parent::callHasChildren(); } }; $i->rewind(); return $i; }, in: 'RecursiveIteratorIterator::next');
check('RegexIterator', static fn($_, int $n) => \array_map(strval(...), \iterator_to_array(new \RegexIterator(new \ArrayIterator(texts('a1', 'b2', 'c1')), "/$n/"), false)), in: ['iterator_to_array']);
foreach (['IteratorIterator', 'NoRewindIterator', 'InfiniteIterator', 'LimitIterator', 'AppendIterator'] as $class) {
    $make = static function () use ($class) {
        if ($class === 'AppendIterator') { $i = new \AppendIterator; $i->append(new Items([1, 2])); $i->append(new Items([3])); }
        else { $class = "\\$class"; $i = new $class(new Items([1, 2, 3, 4])); }
        $i->rewind();
        return $i;
    };
    check("$class::next", static fn($i, int $n) => $i->next(), $make, static fn($i) => $i->current(), in: "$class::next", anywhere: true);
}
check('MultipleIterator::current', static fn($i, int $n) => $i->current(), static function () { $i = new \MultipleIterator; $i->attachIterator(new Items([1, 2])); $i->attachIterator(new Items([3])); $i->rewind(); return $i; }, in: 'MultipleIterator::current');
check('iterator_to_array', static fn($_, int $n) => \iterator_to_array(new Items([$n, 2])), in: 'iterator_to_array');
check('iterator_count', static fn($_, int $n) => \iterator_count(new Items([$n, 2])), in: 'iterator_count');
check('iterator_apply', static function ($_, int $n) { $all = []; $i = new Items([$n, 2]); \iterator_apply($i, static function () use (&$all, $i) { pause(); $all[] = $i->current(); return true; }); return $all; }, in: 'iterator_apply');
check('class_implements', static fn($_, int $n) => \class_implements(on_demand(is: 'extends ArrayObject')), in: 'class_implements');
check('spl_autoload_call', static fn($_, int $n) => \spl_autoload_call(on_demand()), in: 'spl_autoload_call');
check('spl_autoload_register', static fn($_, int $n) => \spl_autoload_unregister($f = static fn() => null) || \spl_autoload_register([on_demand('static function f() {}'), 'f']), in: 'spl_autoload_register');
