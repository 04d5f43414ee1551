--TEST--
APP-2 each request of an application has its superglobals for itself: beside other instances, its boot, and what requests before have left
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

S\in_each_mode(<<<'PHP'
use function Async\{await, delay, spawn, suspend};

/** Writes a mark of its own into each, and checks turn by turn that there is no other. Returns how often it was wrong. */
function checks(string $mark, int $turns, ?Closure $until = null): int
{
    $_GET['mark'] = $_POST['mark'] = $_COOKIE['mark'] = $_SERVER['mark'] = $_ENV['mark'] = $_FILES['mark'] = $_REQUEST['mark'] = $mark;
    $wrong = 0;
    while ($until ? !$until() : $turns-- > 0) {
        random_int(0, 3) ? suspend() : delay(random_int(0, 1));
        foreach (['get' => $_GET, 'post' => $_POST, 'cookie' => $_COOKIE, 'server' => $_SERVER, 'env' => $_ENV, 'files' => $_FILES, 'request' => $_REQUEST] as $table) {
            $wrong += ($table['mark'] ?? null) !== $mark;
        }
    }
    return $wrong;
}

$left = [];
$is_over = false;
$serial = new ArrayObject([0]);
$server = S\application(function (int $instance) use ($serial, &$left, &$is_over) {
    $boot = 'boot ' . ++$serial[0];
    $is_to_end = function () use (&$is_over) { return $is_over; };
    $left[] = spawn(fn() => checks($boot, 0, $is_to_end));
    return function () use ($serial, &$left) {
        $is_fresh = !isset($_GET['mark']) && !isset($_POST['mark']) && !isset($_FILES['mark']);
        $number = ++$serial[0];
        if ($number % 5 === 0) {
            // It outlives the request, as part of which it sees the same.
            $left[] = spawn(fn() => checks("request $number", 60));
        }
        $wrong = checks("request $number", 20);
        gc_collect_cycles();
        echo $wrong === 0 && $is_fresh && $_GET['n'] === '7' ? 'right' : "wrong $wrong times, " . json_encode([$is_fresh, $_GET]);
    };
}, 4);
$_GET['mark'] = $_SERVER['mark'] = 'the script';
echo json_encode(S\answers($server, 120, 9, '/?n=7')), ' ';
$is_over = true;
echo json_encode(array_unique(array_map(await(...), $left))), ' ', count($left) > 20 ? 'many left' : count($left), ' ';
S\stopped($server);
echo $_GET['mark'], ', ', $_SERVER['mark'], ' ', count($_GET);
PHP);
?>
--EXPECT--
without opcache: [0] {"right":120} [0] many left the script, the script 1
with opcache: [0] {"right":120} [0] many left the script, the script 1
with its JIT: [0] {"right":120} [0] many left the script, the script 1
