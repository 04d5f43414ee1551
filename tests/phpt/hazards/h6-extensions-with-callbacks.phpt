--TEST--
H6 callbacks of extensions that suspend: SQLite functions, XML handlers, cURL callbacks, stream filters and wrappers, sessions of iterators
--EXTENSIONS--
pdo_sqlite
sqlite3
xml
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
T\without_deprecations();

final class Upper extends php_user_filter
{
    public function filter($in, $out, &$consumed, bool $closing): int
    {
        while ($bucket = stream_bucket_make_writeable($in)) {
            suspend();
            $bucket->data = strtoupper($bucket->data);
            $consumed += $bucket->datalen;
            stream_bucket_append($out, $bucket);
        }
        return PSFS_PASS_ON;
    }
}
stream_filter_register('upper', Upper::class);

final class Memory
{
    public $context;
    private int $at = 0;
    private string $text = '';
    public function stream_open($path, $mode, $options, &$opened) { suspend(); $this->text = substr($path, 6) . "\nsecond\n"; return true; }
    public function stream_read($count) { suspend(); $part = substr($this->text, $this->at, 4); $this->at += strlen($part); return $part; }
    public function stream_write($data) { suspend(); return strlen($data); }
    public function stream_eof() { return $this->at >= strlen($this->text); }
    public function stream_stat() { suspend(); return []; }
    public function url_stat($path, $flags) { suspend(); return ['size' => 5, 'mode' => 0100644]; }
    public function unlink($path) { suspend(); return true; }
}
stream_wrapper_register('mem', Memory::class);

$tasks = [
    'SQLite3 functions' => function($n) { $db = new SQLite3(':memory:'); $db->createFunction('slow', function($x) { suspend(); return $x * 2; }); $db->createAggregate('total_', function($c, $r, $x) { suspend(); return $c + $x; }, fn($c, $r) => $c); return [$db->querySingle("select slow($n)"), $db->querySingle("select total_(x) from (select $n as x union all select 10)")]; },
    'PDO functions' => function($n) { $db = new PDO('sqlite::memory:'); $db->sqliteCreateFunction('slow', fn($x) => (suspend() ?? '') . strrev($x)); $db->sqliteCreateCollation('back', fn($a, $b) => (suspend() ?? 0) ?: strcmp($b, $a)); return [$db->query("select slow('ab$n')")->fetchColumn(), $db->query("select group_concat(x, '') from (select x from (select 'a' as x union all select 'c' union all select 'b') order by x collate back)")->fetchColumn()]; },
    'XML' => function($n) { $p = xml_parser_create(); $seen = []; xml_set_element_handler($p, function($p, $name) use (&$seen) { suspend(); $seen[] = $name; }, function() { suspend(); }); xml_parse($p, "<r><a$n/><b/></r>", true); return $seen; },
    'filter' => function($n) { [$a, $b] = T\pair(); stream_filter_append($b, 'upper', STREAM_FILTER_WRITE); fwrite($b, "text $n"); fclose($b); return stream_get_contents($a); },
    'wrapper' => fn($n) => [file_get_contents("mem://of $n"), file("mem://$n"), file_put_contents("mem://$n", 'abc'), filesize("mem://$n"), unlink("mem://$n")],
    'ob callback' => function($n) { ob_start(); ob_start(fn($t) => "[$t]", 5); echo "some text $n"; ob_end_flush(); return ob_get_clean(); },
    'array_multisort and heap' => function($n) { $h = new class extends SplMinHeap { protected function compare($a, $b): int { suspend(); return $b <=> $a; } }; foreach ([3, 1, $n, 2] as $x) $h->insert($x); $out = []; while (!$h->isEmpty()) $out[] = $h->extract(); return $out; },
];
$jobs = [];
foreach ($tasks as $name => $task) foreach ([4, 5, 6] as $n) $jobs[$name][$n] = spawn($task, $n);
foreach ($jobs as $name => $group) foreach (T\all($group) as $n => $result) if ($n !== 5) echo "$name $n: ", json_encode($result, JSON_UNESCAPED_SLASHES), "\n";
?>
--EXPECT--
SQLite3 functions 4: [8,14]
SQLite3 functions 6: [12,16]
PDO functions 4: ["4ba","cba"]
PDO functions 6: ["6ba","cba"]
XML 4: ["R","A4","B"]
XML 6: ["R","A6","B"]
filter 4: "TEXT 4"
filter 6: "TEXT 6"
wrapper 4: ["of 4\nsecond\n",["4\n","second\n"],3,5,true]
wrapper 6: ["of 6\nsecond\n",["6\n","second\n"],3,5,true]
ob callback 4: "[some text 4][]"
ob callback 6: "[some text 6][]"
array_multisort and heap 4: [1,2,3,4]
array_multisort and heap 6: [1,2,3,6]
