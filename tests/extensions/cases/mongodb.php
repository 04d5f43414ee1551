<?php
namespace Matrix;

final class Stored implements \MongoDB\BSON\Persistable
{
    public function __construct(public mixed $content = null) {}
    public function bsonSerialize(): array { pause(); return ['content' => $this->content]; }
    public function bsonUnserialize(array $data): void { pause(); $this->content = $data['content']; }
}
$value = static fn(int $n) => ['a' => new Stored(['b' => new Stored("x$n"), 'c' => $n]), 'd' => new Stored([new Stored($n)]), 'e' => "end $n"];
check('MongoDB\BSON\fromPHP', static fn($_, int $n) => \bin2hex(\MongoDB\BSON\fromPHP($value($n))), in: 'MongoDB\BSON\fromPHP');
check('MongoDB\BSON\fromPHP, in common', static fn($v, int $n) => \bin2hex(\MongoDB\BSON\fromPHP(['n' => $n, 'v' => $v])), static fn() => $value(3), in: 'MongoDB\BSON\fromPHP');
$texts = [1 => \MongoDB\BSON\fromPHP($value(1)), 2 => \MongoDB\BSON\fromPHP($value(2))];
check('MongoDB\BSON\toPHP', static fn($_, int $n) => \MongoDB\BSON\toPHP($texts[$n]), in: 'MongoDB\BSON\toPHP');
check('MongoDB\BSON\toPHP, of types on demand', static fn($_, int $n) => noisily(fn() => \MongoDB\BSON\toPHP($texts[$n], ['root' => on_demand()])), in: 'MongoDB\BSON\toPHP');
check('MongoDB\Driver\BulkWrite::insert', static fn($bulk, int $n) => \get_debug_type($bulk->insert($value($n))), static fn() => new \MongoDB\Driver\BulkWrite, static fn($bulk) => $bulk->count(), in: 'MongoDB\Driver\BulkWrite::insert');
check('MongoDB\Driver\Command', static fn($_, int $n) => \get_class(new \MongoDB\Driver\Command($value($n))), in: 'MongoDB\Driver\Command::__construct');
check('MongoDB\Driver\Manager', static fn($m, int $n) => noisily(static function () use ($m, $value, $n) { try { $m->executeCommand(text("db$n"), new \MongoDB\Driver\Command(['ping' => 1])); } catch (\MongoDB\Driver\Exception\Exception $e) { return \get_class($e); } }), static fn() => new \MongoDB\Driver\Manager('mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=50'), in: 'MongoDB\Driver\Manager::executeCommand');
