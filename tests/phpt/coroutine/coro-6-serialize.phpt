--TEST--
CORO-6 serialize() and unserialize() suspended in several coroutines do not mix their references
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

final class Node
{
    public static int $turns = 0;
    public $children = [];
    public function __construct(public string $name) {}
    public function __serialize(): array
    {
        for ($i = 0; $i < self::$turns; $i++) suspend();
        return [$this->name, $this->children];
    }
    public function __unserialize(array $data): void
    {
        for ($i = 0; $i < self::$turns; $i++) suspend();
        [$this->name, $this->children] = $data;
    }
}

$make = function(string $name): Node {
    $shared = new Node("$name-shared");
    $root = new Node($name);
    $root->children = [$shared, new Node("$name-own"), $shared, &$shared, [$shared, $root]];
    return $root;
};
$expected = array_map(fn($n) => serialize($make($n)), $names = ['a' => 'a', 'b' => 'b', 'c' => 'c', 'd' => 'd']);

$jobs = [];
foreach ($names as $i => $name) {
    $jobs[$i] = spawn(function() use ($name, $make) {
        for ($i = 0; $i < ord($name) - ord('a'); $i++) suspend();
        Node::$turns = 1 + ord($name) % 3;
        return serialize($make($name));
    });
}
$results = T\all($jobs);
T\check('serialized', $results === $expected, $results);

$jobs = [];
foreach ($names as $i => $name) {
    $jobs[$i] = spawn(function() use ($name, $expected) {
        Node::$turns = 1 + ord($name) % 3;
        $node = unserialize($expected[$name]);
        return [$node->name, $node->children[0] === $node->children[2], $node->children[4][1] === $node, $node->children[1]->name];
    });
}
foreach (T\all($jobs) as $name => $result) {
    T\check("unserialized $name", $result === [$name, true, true, "$name-own"], $result);
}
// and afterwards all is as it was
Node::$turns = 0;
var_dump(array_map(fn($n) => serialize($make($n)), $names) === $expected, serialize([1, $o = new stdClass, $o]));
?>
--EXPECT--
serialized: yes
unserialized a: yes
unserialized b: yes
unserialized c: yes
unserialized d: yes
bool(true)
string(45) "a:3:{i:0;i:1;i:1;O:8:"stdClass":0:{}i:2;r:3;}"
