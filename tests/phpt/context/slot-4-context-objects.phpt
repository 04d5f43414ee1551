--TEST--
SLOT-4 a Context comes from a coroutine only, and says of itself what the others do
--FILE--
<?php
use Async\Context;
use function Async\{await, localContext, spawn};

$good = localContext();
$ways = [
    'new' => fn() => new Context,
    'clone' => fn() => clone $good,
    'serialize' => fn() => serialize($good),
    'unserialize' => fn() => unserialize('O:13:"Async\Context":0:{}'),
    'without constructor' => fn() => (new ReflectionClass(Context::class))->newInstanceWithoutConstructor(),
    'dynamic property' => fn() => $good->value = 1,
];
foreach ($ways as $name => $way) {
    try {
        $made = @$way();
        echo "$name: ", $made === false ? 'refused' : 'made', "\n";
    } catch (Throwable) {
        echo "$name: refused\n";
    }
}
$class = new ReflectionClass(Context::class);
var_dump($class->isFinal());
foreach ($class->getMethods(ReflectionMethod::IS_PUBLIC) as $m) {
    echo $m->getName(), '(', implode(', ', array_map(fn($p) => $p->getType() . ' $' . $p->getName() . ($p->isOptional() ? ' = ' . json_encode($p->getDefaultValue()) : ''), $m->getParameters())), '): ', $m->getReturnType(), "\n";
}
?>
--EXPECT--
new: refused
clone: refused
serialize: refused
unserialize: refused
without constructor: refused
dynamic property: refused
bool(true)
find(object|string $key): mixed
get(object|string $key): mixed
has(object|string $key): bool
findLocal(object|string $key): mixed
getLocal(object|string $key): mixed
hasLocal(object|string $key): bool
set(object|string $key, mixed $value, bool $replace = false): static
unset(object|string $key): static
