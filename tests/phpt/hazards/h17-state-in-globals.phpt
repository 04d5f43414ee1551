--TEST--
H17 extensions that keep the state of a call in their globals: one such call at a time
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Word
{
    public function __construct(private string $text) {}
    public function __toString(): string { suspend(); return $this->text; }
}
// array_multisort keeps how it compares for all its calls
$sorted = function(int $flags) {
    $data = array_map(fn($t) => new Word($t), ['10', '9', 'b10', 'b9', '1']);
    array_multisort($data, SORT_ASC, $flags);
    return implode(' ', array_map(strval(...), $data));
};
$ways = [SORT_STRING, SORT_NATURAL, SORT_STRING, SORT_NATURAL];
$got = T\all(array_map(fn($way) => spawn($sorted, $way), $ways));
T\check('array_multisort', $got === ['1 10 9 b10 b9', '1 9 10 b9 b10', '1 10 9 b10 b9', '1 9 10 b9 b10'], $got);

// patterns with more groups than PCRE's functions have room for in common, and others
$many = '/' . str_repeat('(x?)', 40) . '(\d)/';
$replace = fn(string $pattern, string $text) => preg_replace_callback($pattern, function(array $m) { suspend(); preg_match('/(other) (text)/', 'some other text here'); suspend(); return '<' . end($m) . '>'; }, $text);
$jobs = [];
for ($i = 0; $i < 6; $i++) {
    $jobs[] = spawn($replace, $many, "a1b2c$i");
    $jobs[] = spawn($replace, '/(\w)(\d)/', "a1b2c$i");
    $jobs[] = spawn($replace, '/[a-c](\d)/', str_repeat("c$i", 3));
}
$right = true;
foreach (T\all($jobs) as $i => $got) {
    $n = intdiv($i, 3);
    $right = $right && $got === ["a<1>b<2>c<$n>", "<1><2><$n>", str_repeat("<$n>", 3)][$i % 3] or print("$i $got\n");
}
T\check('preg_replace_callback', $right);

// no callback at all: standard output is a pipe that is full
$slow = T\interpreter();
$code = '<?php $src = "<?php\n" . str_repeat("function f(\$a) { return \"x \$a \" . 1; } // comment\n", 1000);'
    . 'foreach ([1, 2, 3] as $i) $c[] = Async\spawn(fn() => highlight_string($src)); Async\spawn(function() { for ($i = 0; $i < 50; $i++) { usleep(100); eval("\$x = $i;"); } }); foreach ($c as $x) Async\await($x);';
file_put_contents($file = tempnam(sys_get_temp_dir(), 'h17'), $code);
$child = proc_open("exec $slow $file", [STDIN, ['pipe', 'w'], STDERR], $pipes);
for ($all = ''; ($part = fread($pipes[1], 3000)) !== '' && $part !== false; $all .= $part) usleep(50);
unlink($file);
T\check('highlight_string', proc_close($child) === 0 && strlen($all) % 3 === 0 && substr_count($all, substr($all, 0, strlen($all) / 3)) === 3, strlen($all));
?>
--EXPECT--
array_multisort: yes
preg_replace_callback: yes
highlight_string: yes
