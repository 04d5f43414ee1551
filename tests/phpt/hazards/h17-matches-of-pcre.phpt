--TEST--
H17 a callback of PCRE that waits holds nothing: calls of all kinds begin and end in any order, and each keeps its matches
--FILE--
<?php
use Async\Channel;
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

final class Text
{
    public function __construct(private string $text) {}
    public function __toString(): string { wait(); return $this->text; }
}
$waits = false;
function wait(): void
{
    for ($i = $GLOBALS['waits'] ? mt_rand(0, 3) : 0; $i > 0; $i--) suspend();
}

// what a call gives while others are in progress is what it gives alone
$many = str_repeat('(x?)', 40);
$mark = function (array $m): string {
    wait();
    preg_match('/(other)() (text)/', 'some other text here');
    preg_grep('/(other)? text$/', ['other', 'other text']) or print("nothing\n");
    wait();
    return '<' . end($m) . '>';
};
$nested = fn(array $m): string => preg_replace_callback('/(\w)(?:\d)/', $mark, "$m[0] a1 b2");
$jobs = [
    'a string' => fn(int $n) => preg_replace_callback('/(\w)(\d)/', $mark, "a1b2c$n"),
    'many groups' => fn(int $n) => preg_replace_callback("/$many(\d)/", $mark, "a1b2c$n"),
    'patterns' => fn(int $n) => preg_replace_callback(["/$many(c)/", '/(a)/', "k$n" => '/[0-9]$/', '/</'], $mark, "a1b2c$n"),
    'patterns and texts' => fn(int $n) => preg_replace_callback(["/$many(c)/", new Text('/(b)/')], $mark, ['ab', 'k' => new Text("bc$n"), 'c']),
    'empty matches' => fn(int $n) => preg_replace_callback('/\b|(?=2)/', $mark, "a 1 2 $n"),
    'an array' => fn(int $n) => preg_replace_callback_array(['/(\w)(\d)/' => $mark, "/($many)([a-c])/" => $mark, '/>/u' => fn($m) => strtr($m[0], '>', "$n")], "a1b2c$n"),
    'an array, of texts' => fn(int $n) => preg_replace_callback_array(["/$n/" => $mark, '/b/' => $nested], ["a$n", 'b' => "b$n"]),
    'names and offsets' => fn(int $n) => preg_replace_callback('/(?<name>[a-c])(?<none>x)?(\d)/', fn($m) => $mark([json_encode($m)]), "a1b2c$n", flags: PREG_OFFSET_CAPTURE | PREG_UNMATCHED_AS_NULL),
    'nested' => fn(int $n) => preg_replace_callback('/[ab]/', $nested, "a b $n"),
    'nested in many groups' => fn(int $n) => preg_replace_callback("/{$many}[ab]/", $nested, "a b $n"),
    'limit and count' => fn(int $n) => [preg_replace_callback('/\w/', $mark, "abc$n", 2, $count), $count],
    'an exception' => function (int $n) use ($mark): string {
        try {
            return preg_replace_callback('/\w/', fn($m) => $m[0] === 'c' ? throw new Exception("at c, $n") : $mark($m), 'abcd');
        } catch (Exception $e) {
            return $e->getMessage();
        }
    },
    'grep' => fn(int $n) => array_keys(preg_grep("/(a)(.)?$n/", [new Text("a$n"), new Text('b'), new Text('ax1'), "ab$n"])),
    'too much' => fn(int $n) => [@preg_replace_callback('/(?:\D+|<\d+>)*[!?]/', $mark, 'foobar foobar foobar'), preg_last_error_msg()][0],
];
foreach ([1, 0] as $jit) {
    ini_set('pcre.jit', "$jit");
    $waits = false;
    $alone = array_map(fn($job) => [$job(1), $job(2), $job(3)], $jobs);
    $waits = true;
    mt_srand(5);
    $all = [];
    for ($round = 0; $round < 6; $round++) {
        foreach ($jobs as $what => $job) {
            foreach ([1, 2, 3] as $n) $all[] = [$what, $n, spawn($job, $n)];
        }
    }
    shuffle($all);
    foreach ($all as [$what, $n, $job]) {
        if (($got = await($job)) !== $alone[$what][$n - 1]) echo "$what: ", json_encode($got), ' and not ', json_encode($alone[$what][$n - 1]), "\n";
    }
    echo "jit $jit: ", count($all), "\n";
}

$open = [];
function pass(string $gate): void { while (!isset($GLOBALS['open'][$gate])) suspend(); }
final class Waits
{
    public function __construct(private string $gate, private string $text) {}
    public function __toString(): string { pass($this->gate); return $this->text; }
}

// preg_grep() matches after others have begun
$grep = spawn(fn() => preg_grep('/(x)(.*)/', [new Waits('grep', 'what is before x')]));
T\begun($grep);
T\begun($beside = spawn(fn() => preg_replace_callback('/(\w)(\d)/', function ($m) { pass('beside'); return "<$m[0]>"; }, 'a1 b2, and c3, and more')));
$open['grep'] = true;
echo count(await($grep)), "\n";
$open['beside'] = true;
echo await($beside), "\n";

// the first call leaves the block between its patterns, and the second one comes to its next pattern then
$patterns = ["/{$many}1/" => 'one', "/{$many}2/" => 'two', '/[a-z]+/' => 'three'];
$first = spawn(fn() => preg_replace_callback_array(array_map(fn($gate) => function ($m) use ($gate) { pass($gate); return $m[0]; }, $patterns), '1 2 last of all'));
T\begun($first);
$second = spawn(fn() => preg_replace_callback(['/a/', new Waits('pattern', '/(\w)(\d)/')], function ($m) { isset($m[1]) && pass('second'); return "<$m[0]>"; }, 'a1 b2, and c3'));
T\begun($second);
$open['one'] = true;
T\turns(5);
$open['pattern'] = true;
T\turns(5);
$open['two'] = $open['three'] = true;
echo await($first), "\n";
$open['second'] = true;
echo await($second), "\n";

// a fiber that is started in a callback goes on after it
$fiber = new Fiber(fn() => preg_replace_callback('/(\w)(\d)/', function ($m) { Fiber::suspend(); return "<$m[0]>"; }, 'a1 b2, and c3'));
echo preg_replace_callback(["/{$many}x/", '/..../'], function ($m) use ($fiber) { $fiber->isStarted() || $fiber->start(); return "[$m[0]]"; }, 'x and more text'), "\n";
while (!$fiber->isTerminated()) $fiber->resume();
echo $fiber->getReturn(), "\n";

// one waits for what another one finds
$questions = new Channel;
$answers = new Channel;
spawn(function () use ($questions, $answers) {
    foreach ($questions as $q) $answers->send(preg_replace_callback_array(['/b/' => fn($m) => strtoupper($m[0])], $q));
});
echo preg_replace_callback_array(["/{$many}a/" => function () use ($questions, $answers) {
    $questions->send('b');
    return $answers->recv();
}], 'xay'), "\n";
$questions->close();

// what has been cancelled leaves others theirs
$held = fn(string $gate, string $pattern) => preg_replace_callback($pattern, function ($m) use ($gate) { pass($gate); return "<$m[0]>"; }, 'a1 b2, and more');
$stays = spawn($held, 'first', "/{$many}x?(?=1)/");
$leave = [spawn($held, 'never', "/$many\d/"), spawn($held, 'never', '/\d/'), spawn(fn() => preg_grep('/x/', [new class { public function __toString(): string { pass('never'); } }]))];
T\begun($stays, ...$leave);
foreach ($leave as $job) $job->cancel();
T\ended(...$leave);
T\begun($next = spawn($held, 'second', '/[a-z]\d/'));
$open['first'] = true;
echo await($stays), "\n";
T\begun($last = spawn($held, 'first', '/.... .*$/'));
echo await($last), "\n";
$open['second'] = true;
echo await($next), "\n";

// more patterns than the cache has room for, while some are in use
$used = [];
for ($i = 0; $i < 50; $i++) $used[] = spawn(fn() => preg_replace_callback("/(\w)used $i/", function ($m) { pass('used'); return "$m[1]-"; }, "aused $i bused $i"));
T\begun(...$used);
for ($i = 0; $i < 9000; $i++) preg_match("/never again $i/", '');
$open['used'] = true;
$right = array_map(await(...), $used);
echo json_encode(array_unique($right)), "\n";
?>
--EXPECT--
jit 1: 252
jit 0: 252
1
<a1> <b2>, and <c3>, and more
1 2 last of all
<a>1 <b2>, <a>nd <c3>
[[x] ][and ][more][ te[]x]t
<a1> <b2>, and <c3>
By
a<>1 b2, and more
a1< b2, and more>
<a1> <b2>, and more
["a- b-"]
