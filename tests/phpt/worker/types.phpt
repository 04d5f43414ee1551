--TEST--
The setting default_mimetype is each request's own in worker mode
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{await, spawn};

ini_set('default_mimetype', 'text/x-of-the-process');
$at_once = $most = 0;
$server = S\worker(function () use (&$at_once, &$most) {
    $most = max($most, ++$at_once);
    $n = (int) $_GET['n'];
    $before = ini_get('default_mimetype');
    if ($n % 3 === 1) ini_set('default_mimetype', '');
    if ($n % 3 === 2) ini_set('default_mimetype', "text/x-$n");
    for ($i = 0; $i < 5; $i++) usleep(random_int(0, 500));
    if ($n % 6 === 5) ini_restore('default_mimetype');
    if ($n % 12 === 4) ini_set('default_mimetype', 'text/x-again');
    echo "$before ", ini_get('default_mimetype');
    await(spawn(fn() => print(' ' . ini_get('default_mimetype'))));
    $at_once--;
});
$type = fn(int $n) => match (true) { $n % 12 === 4 => 'text/x-again', $n % 3 === 1 => '', $n % 3 === 0, $n % 6 === 5 => 'text/x-of-the-process', default => "text/x-$n" };
for ($round = 0; $round < 3; $round++) {
    $answers = [];
    for ($n = 0; $n < 48; $n++) $answers[$n] = spawn(fn() => S\send($server, S\request('GET', "/?n=$n")));
    foreach ($answers as $n => $answer) {
        $answer = await($answer);
        $expected = ['text/x-of-the-process ' . $type($n) . ' ' . $type($n), $type($n)];
        $found = [S\body($answer), preg_match('/^content-type: ([^;\r\n]*)/mi', $answer, $m) ? $m[1] : ''];
        $found === $expected || var_dump($n, $expected, $found);
    }
}
echo $most > 1 ? 'at once' : 'one by one', ', ', ini_get('default_mimetype'), "\n";
ini_set('default_mimetype', 'text/x-changed'); // what requests begin with from now on
echo S\answer($server, '/?n=0'), "\n";
$server->stop();
ini_restore('default_mimetype');
echo ini_get('default_mimetype'), "\n";
?>
--EXPECT--
at once, text/x-of-the-process
200 text/x-changed text/x-changed text/x-changed
text/html
