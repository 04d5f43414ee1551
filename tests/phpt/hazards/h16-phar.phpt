--TEST--
H16 entries of one phar archive, which read from one inner stream, from several coroutines: by streams, paths, includes, objects
--EXTENSIONS--
phar
--INI--
phar.readonly=0
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

T\work_in();
$text = fn(int $n) => implode('', array_map(fn($line) => "file $n line $line " . str_repeat(chr(65 + $n), 40) . "\n", range(0, 3000)));
$phar = new Phar('a.phar');
for ($n = 0; $n < 8; $n++) { $phar["f$n.txt"] = $text($n); $phar["c$n.php"] = "<?php return '$n' . strlen('" . str_repeat('x', 20000) . "');"; }
$phar->setStub('<?php __HALT_COMPILER();');
unset($phar);
$ways = [
    'fread' => function($n) { $h = fopen("phar://a.phar/f$n.txt", 'r'); for ($s = ''; !feof($h);) $s .= fread($h, 4096); return $s; },
    'file_get_contents' => fn($n) => file_get_contents("phar://a.phar/f$n.txt"),
    'file' => fn($n) => implode('', file("phar://a.phar/f$n.txt")),
    'copy' => function($n) { copy("phar://a.phar/f$n.txt", "copy$n"); return file_get_contents("copy$n"); },
    'SplFileObject' => fn($n) => implode('', iterator_to_array(new SplFileObject("phar://a.phar/f$n.txt"))),
    'Phar' => fn($n) => (new Phar('a.phar'))["f$n.txt"]->getContent(),
];
$jobs = [];
foreach ($ways as $name => $way) for ($n = 0; $n < 8; $n++) $jobs["$name $n"] = spawn($way, $n);
for ($n = 0; $n < 8; $n++) $included[$n] = spawn(fn() => include "phar://a.phar/c$n.php");
$wrong = [];
foreach (T\all($jobs) as $name => $got) if ($got !== $text((int) substr($name, -1))) $wrong[] = $name;
T\check('each its own', $wrong === [], $wrong);
T\check('includes', T\all($included) === array_map(fn($n) => $n . '20000', range(0, 7)));
?>
--EXPECT--
each its own: yes
includes: yes
