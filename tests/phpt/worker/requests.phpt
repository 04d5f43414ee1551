--TEST--
Concurrent requests in worker mode: superglobals, headers, cookies, output, sessions, handlers and exits of each are its own, and nothing stays
--EXTENSIONS--
session
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await};

$folder = sys_get_temp_dir() . '/spindle-phpt-' . getmypid();
mkdir($folder);
ini_set('session.save_path', $folder);
set_error_handler(fn($level, $text) => throw new ErrorException($text));
$server = S\worker(function () {
    $n = (int) $_GET['n'];
    $found = [
        count($_GET), $_POST, $_FILES, $_COOKIE, isset($_SESSION), isset($_REQUEST['more']), isset($_SERVER['CANARY']), isset($_ENV['CANARY']),
        headers_sent(), http_response_code(), count(headers_list()), ob_get_level(), ob_get_length(),
        session_status(), session_id(), connection_aborted(), ignore_user_abort(), error_get_last(),
        $_SERVER['HTTP_X_N'], file_get_contents('php://input'),
        set_exception_handler(null),
    ];
    $clean = [1, [], [], ['k' => "$n"], false, false, false, false, false, 200, 1, 1, 0, PHP_SESSION_NONE, '', 0, 0, null, "$n", '', null];
    $wrong = $found === $clean ? [] : [json_encode($found)];
    $_SERVER['CANARY'] = $_ENV['CANARY'] = $_GET['more'] = $_COOKIE['more'] = $_POST['more'] = $_REQUEST['more'] = $n;
    $GLOBALS['_FILES'] = ['canary' => $n];
    $reference = &$_GET;
    ignore_user_abort(true);
    register_shutdown_function(function () use ($n) { echo $n === $_SERVER['CANARY'] ? "end$n" : 'WRONG'; });
    set_error_handler(fn($level, $text) => print("E$n:$text "));
    set_exception_handler(fn($e) => print("X$n:{$e->getMessage()} "));
    header("X-N: $n");
    setcookie("c$n", "$n");
    http_response_code(210 + $n % 50);
    session_id('s' . $n % 20);
    session_start();
    $_SESSION['all'][] = $n;
    $_SESSION['last'] = $n;
    usleep(random_int(0, 3000));
    ob_start(fn($text) => "<$n:" . strtoupper($text) . '>');
    echo "text$n";
    $child = spawn(function () use ($n) {
        usleep(random_int(0, 2000));
        header("X-Child: $n");
        return [$_GET['more'], $_SESSION['last'], http_response_code()];
    });
    usleep(random_int(0, 3000));
    ob_end_flush();
    trigger_error("t$n", E_USER_WARNING);
    $own = [$_SESSION['last'], $_SERVER['CANARY'], $_ENV['CANARY'], $_GET['more'], $reference['more'], $_COOKIE['more'], $_POST['more'],
            $_REQUEST['more'], $_FILES['canary']];
    if (array_unique($own) !== [$n]) {
        $wrong[] = json_encode($own);
    }
    if (await($child) !== [$n, $n, 210 + $n % 50] || filter_input(INPUT_GET, 'n') !== null || session_id() !== 's' . $n % 20 || !ignore_user_abort()) {
        $wrong[] = 'more';
    }
    echo $wrong ? 'wrong: ' . implode(', ', $wrong) : 'right', ' ';
    session_write_close();
    match ($n % 4) {
        0 => exit("exit$n "),
        1 => throw new Exception("x$n"),
        default => usleep(random_int(0, 1000)),
    };
}, ['max_concurrency' => 400]);
$wrong = 0;
$client = function (int $n) use ($server, &$wrong): void {
    usleep(random_int(0, 5000));
    $answer = S\send($server, S\request('GET', "/?n=$n", '', "X-N: $n\r\nCookie: k=$n\r\n"));
    $code = $n % 4 === 1 ? 500 : 210 + $n % 50;
    $body = "<$n:TEXT$n>E$n:t$n right " . ['exit' . $n . ' ', "X$n:x$n ", '', ''][$n % 4] . "end$n";
    $heads = ["x-n: $n", "x-child: $n", "set-cookie: c$n=$n", 'set-cookie: PHPSESSID=s' . $n % 20 . ';'];
    $missing = array_filter($heads, fn($head) => !str_contains($answer, "\r\n$head"));
    if (S\status($answer) !== "$code" || S\body($answer) !== $body || $missing || substr_count($answer, 'set-cookie') !== 2) {
        if ($wrong++ < 3) {
            echo $answer, "\n";
        }
    }
};
for ($round = 0; $round < 2; $round++) {
    $clients = array_map(fn($n) => spawn($client, $n), range(1, 200));
    array_map(await(...), $clients);
}
$server->stop();
$served = 0;
foreach (glob("$folder/*") as $session) {
    preg_match('/all\|a:(\d+)/', file_get_contents($session), $count);
    $served += $count[1];
    unlink($session);
}
rmdir($folder);
echo "wrong: $wrong, in sessions: $served\n";
var_dump(isset($_SESSION), $_GET, isset($_SERVER['CANARY'], $_ENV['CANARY']), headers_list(), session_status() === PHP_SESSION_NONE);
?>
--EXPECT--
wrong: 0, in sessions: 400
bool(false)
array(0) {
}
bool(false)
array(0) {
}
bool(true)
