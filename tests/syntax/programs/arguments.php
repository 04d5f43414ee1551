<?php
// By reference, named, spread, with defaults, and callees of every kind.
function fill(array &$list, string $prefix = '-', string ...$words): int {
    foreach ($words as $key => $word) {
        suspend;
        $list[] = "$key$prefix$word";
    }
    return count($list);
}

class Shop {
    public array $stock = [];
    public function add(string $item, int $count = 1): static { $this->stock[$item] = $count; return $this; }
    public static function open(string ...$items): static {
        $shop = new static;
        foreach ($items as $item) {
            $shop->add($item);
        }
        return $shop;
    }
    public function take(string $item, ?int &$left): void { $left = --$this->stock[$item]; }
    public function __call(string $name, array $args): string { return $name . json_encode($args); }
    public static function __callStatic(string $name, array $args): string { return "static $name" . json_encode($args); }
    public function __invoke(int $a, int $b = 2): int { return $a * $b; }
}

$list = [];
echo await spawn fill($list, '=', 'one', 'two'), "\n";
echo await spawn fill($list, words: 'named'), "\n";
echo await spawn fill($list, ...['prefix' => '+', 'x' => 'spread', 'y' => 'twice']), "\n";
echo await spawn fill(
    $list,
    ...['~', 'plain'], // a comment, and a comma at the end
), "\n";
echo json_encode($list), "\n";

$shop = await spawn Shop::open(...['tea', 'milk']);
await spawn $shop->add(count: 5, item: 'coffee')->add('bread');
await spawn $shop->take('coffee', $left);
$place = ['left' => null];
await spawn $shop->take('coffee', $place['left']);
echo json_encode([$shop->stock, $left, $place]), "\n";

$name = 'add';
$class = 'Shop';
$pair = [$shop, 'add'];
$closures = ['twice' => fn(int $n) => $n * 2, 'nested' => fn() => fn($x) => "inner $x"];
await spawn $shop->$name('by name');
await spawn $shop->{'ad' . 'd'}('by expression');
await spawn $pair('by pair');
echo count((await spawn $class::open('a', 'b'))->stock), "\n";
echo await spawn $closures['twice'](21), ' ', await spawn $closures['nested']()('call'), "\n";
echo await spawn $shop(6), ' ', await spawn $shop(6, b: 7), "\n";
echo await spawn $shop->magic(1, 'two'), ' ', await spawn Shop::magic(), "\n";
echo await spawn 'str_repeat'('ab', 2), ' ', await spawn \strrev('abc'), "\n";
echo implode(',', array_keys($shop->stock)), "\n";
