--TEST--
Sessions in worker mode: requests with one session take turns while others run; one that is cancelled or dies gives it back
--EXTENSIONS--
session
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await, delay};

$folder = sys_get_temp_dir() . '/spindle-phpt-' . getmypid();
mkdir($folder);
ini_set('session.save_path', $folder);
$log = S\log_file();

class Handler implements SessionHandlerInterface
{
    public static array $data = [];
    function open(string $path, string $name): bool { usleep(100); return true; }
    function close(): bool { usleep(100); return true; }
    function read(string $id): string|false { usleep(1000); return self::$data[$id] ?? ''; }
    function write(string $id, string $data): bool { usleep(1000); self::$data[$id] = $data; return true; }
    function destroy(string $id): bool { unset(self::$data[$id]); return true; }
    function gc(int $lifetime): int|false { return 0; }
}

$holds = $free = null;
$handler = function () use (&$holds, &$free) {
    switch ($_GET['how']) {
        case 'count':
            session_start();
            $count = $_SESSION['count'] ?? 0;
            usleep(random_int(0, 500));
            $_SESSION['count'] = $count + 1;
            echo $_SESSION['count'];
            return;
        case 'own':
            session_set_save_handler(new Handler, true);
            session_start();
            $_SESSION['n'] = ($_SESSION['n'] ?? '') . $_GET['n'];
            usleep(500);
            echo $_SESSION['n'], ' ', session_id();
            return;
        case 'holds':
            session_start();
            $holds->send(1);
            $free->recv();
            $_SESSION['held'] = true;
            echo 'held';
            return;
        case 'waits':
            session_start();
            echo 'has it ', json_encode($_SESSION);
            return;
        case 'dies':
            session_start();
            $holds->send(1);
            trigger_error('dies', E_USER_ERROR);
    }
};
$server = (new Async\Http\Server)->listen('127.0.0.1:0')->worker($handler);
$run = spawn($server->run(...));
$impatient = S\worker($handler, ['request_timeout' => 0.1]);

$get = fn(string $query, string $session, $of = null) => S\answer($of ?? $server, "/?$query", "Cookie: PHPSESSID=$session\r\n");
$clients = [];
for ($n = 0; $n < 100; $n++) {
    $clients[] = spawn($get, 'how=count', 's' . $n % 5);
}
$counts = array_map(fn($client) => await($client), $clients);
sort($counts, SORT_NATURAL);
echo implode(' ', array_unique($counts)), ' ', json_encode(array_unique(array_values(array_count_values($counts)))), "\n";

// A handler of PHP code, and the files again, at the same time.
$clients = [];
for ($n = 0; $n < 20; $n++) {
    $clients["own$n"] = spawn($get, "how=own&n=$n", "own$n");
    $clients["s$n"] = spawn($get, 'how=count', "f$n");
}
$wrong = 0;
foreach ($clients as $id => $client) {
    $want = $id[0] === 'o' ? '200 ' . substr($id, 3) . " $id" : '200 1';
    if (await($client) !== $want) {
        $wrong++;
    }
}
echo "wrong: $wrong, handled: ", count(Handler::$data), ", files: ", count(glob("$folder/*")), "\n";

$holds = new Async\Channel(1);
$free = new Async\Channel(1);
$holder = spawn($get, 'how=holds', 'one');
$holds->recv();
$first = spawn($get, 'how=waits', 'one', $impatient);
echo await($first), "\n"; // its time has passed before it got the session
$free->send(1);
echo await($holder), "\n";
echo $get('how=waits', 'one'), "\n";
$holder = spawn($get, 'how=holds', 'one');
$holds->recv();
$next = spawn($get, 'how=waits', 'one');
delay(1);
$free->send(1);
echo await($holder), ' ', await($next), "\n";

$dying = spawn($get, 'how=dies', 'one');
$holds->recv();
echo await($dying), "\n";
try {
    await($run);
} catch (Async\Http\ServerException) {
    echo "ended\n";
}
$session = fopen("$folder/sess_one", 'r+');
var_dump(flock($session, LOCK_EX | LOCK_NB)); // it has been closed
array_map(unlink(...), glob("$folder/*"));
rmdir($folder);
$impatient->stop();
echo preg_replace('/ in .*/', '', S\reports($log));
?>
--EXPECT--
200 1 200 2 200 3 200 4 200 5 200 6 200 7 200 8 200 9 200 10 200 11 200 12 200 13 200 14 200 15 200 16 200 17 200 18 200 19 200 20 [5]
wrong: 0, handled: 20, files: 25
503 503 Service Unavailable
200 held
200 has it {"held":true}
200 held 200 has it {"held":true}
500 
ended
bool(true)
Fatal error:  dies
