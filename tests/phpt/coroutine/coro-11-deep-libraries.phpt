--TEST--
CORO-11 a library that recurses does so in a coroutine: SQLite's LIKE, libxml2
--EXTENSIONS--
sqlite3
dom
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$like = function(): int {
    $db = new SQLite3(':memory:');
    $text = str_repeat('a', 20_000);
    $pattern = str_repeat('%a', 20_000);
    return $db->querySingle("SELECT '$text' LIKE '$pattern'");
};
$clone = function(): int {
    $document = new DOMDocument;
    for ($node = $document, $i = 0; $i < 15_000; $i++) $node = $node->appendChild($document->createElement('a'));
    return strlen((clone $document)->saveXML());
};
foreach (['LIKE' => $like, 'clone' => $clone] as $name => $task) {
    $outside = $task();
    $jobs = array_map(fn() => spawn(function() use ($task) { suspend(); return $task(); }), range(1, 5));
    T\check($name, T\all($jobs) === array_fill(0, 5, $outside), $outside);
}
?>
--EXPECT--
LIKE: yes
clone: yes
