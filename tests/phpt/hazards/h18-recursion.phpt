--TEST--
H18 two coroutines that dump, encode, compare or walk one object or array: neither finds it in use, each still finds circles
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

/** Waits for all others to have a turn, or until it is cancelled. */
function pause(): void { ($GLOBALS['stays'] ?? false) ? delay(1_000_000) : suspend(); }

final class Node implements JsonSerializable
{
    public array $children = [];
    public mixed $list = null;

    public function __construct(public string $name) {}
    public function jsonSerialize(): mixed { pause(); return ['name' => $this->name, 'children' => $this->children, 'list' => $this->list]; }
    public function __debugInfo(): array { pause(); return ['name' => $this->name, 'children' => $this->children]; }
    public function __toString(): string { pause(); return $this->name; }
}
final class Item { public function __construct(public mixed $value = null, public mixed $next = null) {} }

$root = new Node('root');
$leaf = new Node('leaf');
$root->children = [$leaf, new Node('second'), $leaf];
$root->list = [['deep' => [$leaf, $leaf]], 'text'];
$array = [[1, [2, $leaf]], [3, [$leaf]]];
$box = new Item([[1, [2, 3]], [4, [5]]]);
$circle = new Node('circle');
$circle->children = [$circle];
$plain = new Item([1, new Item([2, new Item($leaf)])]);
$same = new Item([1, new Item([2, new Item('leaf')])]);
$ring = new Item($leaf);
$ring->next = $ring;

/** What a function prints, through a handler that waits. */
function printed(callable $what): string
{
    ob_start(function(string $text) { pause(); return $text; }, 1);
    ob_start();
    $what();
    ob_end_flush();
    return ob_get_clean();
}

/** What it prints piece by piece, each of which waits. */
function in_pieces(callable $what): string
{
    $text = '';
    ob_start(function(string $piece) use (&$text) { pause(); $text .= $piece; return ''; }, 1);
    $what();
    ob_end_clean();
    return $text;
}

$ways = [
    'json_encode' => fn() => json_encode($root),
    'json_encode of arrays' => fn() => json_encode($array),
    'json_encode of a circle' => fn() => [json_encode($circle), json_last_error_msg()],
    'json_encode after the first circle' => fn() => json_encode($circle, JSON_PARTIAL_OUTPUT_ON_ERROR),
    'var_dump' => fn() => in_pieces(fn() => var_dump($root, $array)),
    'var_dump of a circle' => fn() => in_pieces(fn() => var_dump($circle)),
    'var_dump of a ring' => fn() => in_pieces(fn() => var_dump($ring)),
    'print_r' => fn() => [print_r($root, true), print_r($circle, true)],
    'var_export' => fn() => in_pieces(fn() => var_export($plain)),
    'debug_zval_dump' => fn() => substr_count(in_pieces(fn() => debug_zval_dump($array)), 'array'),
    '==' => fn() => [$plain <=> $same, $plain == $same, $same == $plain, [$plain] == [$same], [[$leaf]] == [['leaf']], ['leaf'] == [$leaf], $plain != $same, $plain <=> $same],
    'in_array' => fn() => [in_array($same, [$plain]), array_search([$same], [[], [$plain]]), in_array(['leaf'], [[$leaf]])],
    'sort' => function() use ($plain, $same, $leaf) { $list = [$plain, $same, $plain]; sort($list); $lists = [[$leaf], ['a'], ['z']]; sort($lists); return array_map(fn($list) => (string) $list[0], $lists); },
    'count' => fn() => count($array, COUNT_RECURSIVE),
    'array_walk_recursive' => function() use ($array) { $seen = ''; array_walk_recursive($array, function($value) use (&$seen) { pause(); $seen .= $value; }); return $seen; },
    'array_walk_recursive in place' => function() use ($box) { $seen = 0; array_walk_recursive($box->value, function($value) use (&$seen) { pause(); $seen += $value; }); return $seen; },
    'http_build_query' => fn() => http_build_query(['a' => $array, 'item' => $same]),
];
$alone = array_map(fn($way) => $way(), $ways);
T\check('circles are seen', $alone['json_encode of a circle'] === [false, 'Recursion detected'] && str_contains($alone['var_dump of a circle'], '*RECURSION*') && str_contains($alone['var_dump of a ring'], '*RECURSION*'));
foreach ($ways as $name => $way) {
    $results = T\all([spawn($way), spawn($way), spawn($way)]);
    T\check($name, $results === array_fill(0, 3, $alone[$name]), $results, $alone[$name]);
}
// all of them at once, in one another's way
$jobs = [];
for ($round = 0; $round < 5; $round++) foreach ($ways as $name => $way) $jobs["$name $round"] = spawn($way);
$wrong = [];
foreach (T\all($jobs) as $name => $result) if ($result !== $alone[substr($name, 0, -2)]) $wrong[] = $name;
T\check('all at once', $wrong === [], $wrong);
// cancelled inside, or abandoned by an exit: nothing stays in use
$stays = true;
$jobs = array_map(fn($name) => spawn($ways[$name]), ['json_encode', 'json_encode of arrays', '==', 'in_array', 'array_walk_recursive in place', 'http_build_query']);
T\parked(...$jobs);
$stays = false;
foreach ($jobs as $job) $job->cancel();
foreach ($jobs as $job) try { await($job); } catch (Async\CancellationException) {}
T\check('afterwards', array_map(fn($way) => $way(), $ways) === $alone);
register_shutdown_function(fn() => T\check('at the end', json_encode($root) === $alone['json_encode'] && $plain == $same));
$stays = true;
$left = spawn(fn() => json_encode($root));
$compares = spawn(fn() => $plain == $same);
T\parked($left, $compares);
$stays = false;
exit;
?>
--EXPECT--
circles are seen: yes
json_encode: yes
json_encode of arrays: yes
json_encode of a circle: yes
json_encode after the first circle: yes
var_dump: yes
var_dump of a circle: yes
var_dump of a ring: yes
print_r: yes
var_export: yes
debug_zval_dump: yes
==: yes
in_array: yes
sort: yes
count: yes
array_walk_recursive: yes
array_walk_recursive in place: yes
http_build_query: yes
all at once: yes
afterwards: yes
at the end: yes
