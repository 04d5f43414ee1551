<?php
/* What jobs share and only read: classes that are loaded when first used, an object that is made when first asked for, a connection. */
declare(strict_types=1);

namespace Compositions\Feature\Shared;

use Compositions\Job;

\spl_autoload_register(static function (string $class): void {
    if (\str_starts_with($class, __NAMESPACE__ . '\\')) {
        \Compositions\pause();
        require_once __DIR__ . '/' . \strtolower(\substr(\strrchr($class, '\\'), 1)) . '.php';
    }
});

function database(): \PDO
{
    static $db;
    if (!$db) {
        $db = new \PDO('sqlite::memory:');
        $db->sqliteCreateFunction('slow', static function (int $n): int { \Compositions\pause(); return $n; });
    }
    return $db;
}

/** An object that all share, whose properties are computed when they are read. */
function lazily(Job $j): array
{
    static $object;
    $object ??= new class() implements \JsonSerializable {
        public array $tree = ['x' => [1, 2]];
        public function __get(string $name): string { \Compositions\pause(); return "got $name"; }
        public function __isset(string $name): bool { \Compositions\pause(); return $name === 'there'; }
        public function jsonSerialize(): array { \Compositions\pause(); return ['tree' => $this->tree]; }
        public function __debugInfo(): array { \Compositions\pause(); return $this->tree; }
    };
    \ob_start();
    \var_dump($object);
    return [$object->lazy, isset($object->there), isset($object->gone), \json_encode([$object, $object]), \strlen(\preg_replace('~#\d+|/in/.*~', '', (string) \ob_get_clean())) > 20, $object == clone $object];
}
