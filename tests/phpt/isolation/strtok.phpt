--TEST--
CORO-8 strtok() goes on with one's own string, also from a fiber and a generator, when others begin and end theirs
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';

function words(string $text, callable $between): string
{
    $words = [];
    for ($word = strtok($text, ' '); $word !== false; $word = strtok(' ')) {
        $words[] = $word;
        $between();
    }
    return implode('-', $words);
}

strtok('the script goes on', ' ');
$jobs = [
    'suspend' => spawn(words(...), 'a b c d', suspend(...)),
    'delay' => spawn(words(...), 'e f g', fn () => delay(2)),
    'sleep' => spawn(words(...), 'h i j', fn () => usleep(1000)),
    'nothing begun' => spawn(fn () => suspend() ?? @strtok(' ')),
    'left unfinished' => spawn(fn () => strtok('k l m', ' ')),
    'in a generator' => spawn(function (): string {
        $generator = (function () {
            for ($word = strtok('n.o.p', '.'); $word !== false; $word = strtok('.')) yield $word;
        })();
        $words = '';
        foreach ($generator as $word) {
            suspend();
            $words .= $word;
        }
        return $words;
    }),
    'in a buffer' => spawn(function (): string {
        ob_start();
        echo words('q r s', suspend(...));
        return ob_get_clean();
    }),
];
foreach (T\all($jobs) as $name => $result) {
    echo "$name: ", json_encode($result), "\n";
}
echo strtok(' '), ' ', strtok(' '), ' ', strtok(' '), "\n";
?>
--EXPECT--
suspend: "a-b-c-d"
delay: "e-f-g"
sleep: "h-i-j"
nothing begun: false
left unfinished: "k"
in a generator: "nop"
in a buffer: "q-r-s"
script goes on
