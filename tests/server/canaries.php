<?php
/*
 * A server in worker mode whose requests use all that is each request's own, and leave something in each of these. Every request
 * looks for what others have left before it begins, and in between whether all is still its own. Prints its address, and at the
 * end what was wrong.
 */

use Async\Http\Server;
use function Async\{await, signal, spawn};

final class Kept
{
    public static ?string $n = null;
    public static array $list = [];
}

$wrong = [];
$at_once = $most = $done = 0;
$complain = function (string $what) use (&$wrong): void {
    count($wrong) < 20 && $wrong[] = $what;
};
/* Gives way somewhere else each time. */
$pause = function (): void {
    match (mt_rand(0, 3)) {
        0 => usleep(mt_rand(0, 3000)),
        1 => Async\suspend(),
        2 => file_exists('/nothing'),
        3 => null,
    };
};
/* What must be as it was when the process began. */
$leftovers = function (string $n) use ($complain): void {
    $fresh = [
        'get' => array_keys($_GET) === ['n'] && $_GET['n'] === $n, 'post' => array_keys($_POST) === ['p'] && $_POST['p'] === $n,
        'cookie' => ($_COOKIE['n'] ?? '') === $n && !isset($_COOKIE['left']), 'files' => $_FILES === [],
        'request' => count($_REQUEST) === 2 && $_REQUEST['n'] === $n, 'server' => $_SERVER['HTTP_X_N'] === $n && !isset($_SERVER['LEFT']),
        'env' => !isset($_ENV['LEFT']), 'session' => !isset($_SESSION) || $_SESSION === null, 'sid' => session_id() === '' && session_status() === PHP_SESSION_NONE,
        'headers' => array_values(preg_grep('/^X-Powered-By/i', headers_list(), PREG_GREP_INVERT)) === [], 'status' => http_response_code() === 200,
        'sent' => !headers_sent(), 'buffers' => ob_get_level() === 1, 'content' => ob_get_contents() === '', 'type' => ini_get('default_mimetype') === 'text/html',
        'level' => error_reporting() === E_ALL, 'error' => error_get_last() === null, 'handler' => set_error_handler(null) === null,
        'exceptions' => set_exception_handler(null) === null, 'abort' => ignore_user_abort() === 0, 'aborted' => connection_status() === 0,
        'statics' => Kept::$n === null && Kept::$list === [], 'input' => file_get_contents('php://input') === "p=$n", 'user' => ($_SERVER['PHP_AUTH_USER'] ?? '') === "u$n",
    ];
    foreach (array_keys($fresh, false, true) as $what) {
        $complain("$what is not fresh for $n");
    }
};

$all = new Async\FutureState();
$begun = new Async\Future($all);
$open = false;
$handle = function () use (&$at_once, &$most, &$done, &$requests, &$open, $all, $begun, $complain, $pause, $leftovers): void {
    $most = max($most, ++$at_once);
    $n = $_GET['n'] ?? '';
    $leftovers($n);
    // None goes on before all have begun.
    if ($at_once === $requests && !$open) {
        $open = true;
        $all->complete(true);
    }
    await($begun);
    $same = function (string $what, mixed $found) use ($n, $complain): void {
        $found === $n || $complain("$what of $n is " . json_encode($found));
    };
    register_shutdown_function(function () use ($n, $same, &$at_once, &$done): void {
        $same('$_GET at the end', $_GET['n']);
        $at_once--;
        $done++;
    });
    $steps = [
        'header' => [fn() => header("X-Own: $n"), fn() => preg_replace('/^X-Own: /', '', current(preg_grep('/^X-Own/', headers_list())))],
        'setcookie' => [fn() => setcookie("c$n", $n), fn() => str_contains(implode(headers_list()), "c$n=$n") ? $n : headers_list()],
        'status' => [fn() => http_response_code(200 + $n % 4), fn() => http_response_code() === 200 + $n % 4 ? $n : http_response_code()],
        'session' => [function () use ($n) { session_id("canary$n"); session_start(); $_SESSION['n'] = $n; }, fn() => $_SESSION['n']],
        'session_id' => [fn() => null, fn() => in_array(session_id(), ['', "canary$n"], true) ? $n : session_id()],
        'get' => [fn() => null, fn() => $_GET['n']],
        'post' => [fn() => $_POST['left'] = $n, fn() => $_POST['p']],
        'cookie' => [fn() => $_COOKIE['left'] = $n, fn() => $_COOKIE['left'] ?? null],
        'server' => [fn() => $_SERVER['LEFT'] = $n, fn() => $_SERVER['LEFT'] ?? null],
        'env' => [fn() => $_ENV['LEFT'] = $n, fn() => $_ENV['LEFT'] ?? null],
        'request' => [fn() => $_REQUEST['left'] = $n, fn() => $_REQUEST['left'] ?? null],
        'files' => [fn() => $_FILES['left'] = $n, fn() => $_FILES['left'] ?? null],
        'statics' => [function () use ($n) { Kept::$n = $n; Kept::$list[] = $n; }, fn() => Kept::$list === [$n] ? Kept::$n : Kept::$list],
        'type' => [fn() => ini_set('default_mimetype', "text/x-$n"), fn() => substr(ini_get('default_mimetype'), 7)],
        'errors' => [fn() => set_error_handler(function (int $level, string $message) use ($same) { $same('an error', $message); return true; }),
            function () use ($n) { trigger_error($n); return $n; }],
        'exceptions' => [fn() => set_exception_handler(fn($e) => $n), function () use ($n) {
            return (new ReflectionFunction(set_exception_handler(fn($e) => $n)))->getStaticVariables()['n'];
        }],
        'abort' => [fn() => ignore_user_abort((bool) ($n % 2)), fn() => ignore_user_abort() === $n % 2 ? $n : 'another'],
        'buffer' => [fn() => ob_start(fn($text) => str_replace('#', $n, $text)), fn() => ob_get_level() >= 2 ? $n : ob_get_level()],
        'child' => [fn() => null, fn() => await(spawn(function () use ($n, $pause) { $pause(); echo "[$n]"; return $_GET['n']; }))],
    ];
    if ($n % 3) {
        unset($steps['session'], $steps['session_id']); // each of these has a file open
    }
    $order = array_keys($steps);
    shuffle($order);
    $taken = [];
    foreach ($order as $step) {
        $steps[$step][0]();
        $taken[] = $step;
        $pause();
        echo "($n)";
        for ($i = 0; $i < 3; $i++) {
            $one = $taken[mt_rand(0, count($taken) - 1)];
            $same($one, $steps[$one][1]());
            $pause();
        }
    }
    if ($n % 7 === 0) {
        exit;
    }
};

[$requests, $sessions] = [(int) $argv[1], $argv[2]];
mt_srand((int) ini_get('async.seed'));
ini_set('session.save_path', $sessions);
ini_set('session.gc_probability', 0);
$server = (new Server(['max_concurrency' => 1_000_000, 'max_connections' => 1_000_000, 'queue_timeout' => 0, 'request_timeout' => 0,
    'header_timeout' => 0, 'body_timeout' => 0, 'write_timeout' => 0]))
    ->listen('127.0.0.1:0')->worker($handle);
spawn(function () use ($server) {
    await(signal(SIGTERM));
    $server->stop(10);
});
echo $server->address(), "\n";
$server->run();
echo "$done done, $most at once, $at_once left\n", implode("\n", $wrong), "\n";
