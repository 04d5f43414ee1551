<?php
namespace Matrix;

final class Item implements \JsonSerializable
{
    public function __construct(private mixed $content) {}
    public function jsonSerialize(): mixed { pause(); return $this->content; }
}
check('json_encode', static fn($_, int $n) => \json_encode([$n, new Item(['a' => new Item($n)]), new Item("x$n")]), in: 'json_encode');
check('json_encode, to a depth', static fn($_, int $n) => [\json_encode([new Item(1), new Item([[[[$n]]]])], depth: [1 => 3, 2 => 20][$n])], in: 'json_encode');
check('json_encode, in common', static fn($items, int $n) => \json_encode([$n, $items]), static fn() => [new Item(1), (object) ['a' => new Item([2, new Item(3)])], [new Item(4)]], in: 'json_encode');
check('json_encode, pretty and partial', static fn($_, int $n) => \json_encode(['a' => new Item(["\xff$n"]), 'b' => NAN, 'c' => [new Item($n)]], [1 => JSON_PARTIAL_OUTPUT_ON_ERROR | JSON_PRETTY_PRINT, 2 => JSON_PARTIAL_OUTPUT_ON_ERROR][$n]), in: 'json_encode');
check('json_encode, thrown', static fn($_, int $n) => \json_encode([new Item($n), new Item("\xff")], JSON_THROW_ON_ERROR), in: 'json_encode');
check('json_decode', static fn($_, int $n) => \json_decode(text("{\"a\":[$n,{}]}"), true), in: 'json_decode');
check('json_decode, wrong', static fn($_, int $n) => noisily(fn() => \json_decode("[[$n", null, 512.5, JSON_THROW_ON_ERROR)), in: 'json_decode');
