--TEST--
H2 two coroutines that read one buffered stream lose and double nothing
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

[$a, $b] = T\pair();
$expected = array_map(fn($i) => "line $i " . str_repeat('x', $i % 300), range(1, 600));
$writer = spawn(function() use ($b, $expected) {
    $text = implode("\n", $expected) . "\n";
    foreach (str_split($text, 777) as $piece) {
        fwrite($b, $piece);
        suspend();
    }
    fclose($b);
});
$seen = $readers = [];
for ($i = 0; $i < 5; $i++) {
    $readers[] = spawn(function() use ($a, &$seen) {
        $n = 0;
        while (($line = fgets($a)) !== false) {
            $seen[] = rtrim($line, "\n");
            $n++;
            if ($n % 3 === 0) suspend();
        }
        return $n;
    });
}
$counts = T\all($readers);
T\check('all lines, whole and in order', $seen === $expected, count($seen));
T\check('several took part', count(array_filter($counts)) > 1, $counts);
?>
--EXPECT--
all lines, whole and in order: yes
several took part: yes
