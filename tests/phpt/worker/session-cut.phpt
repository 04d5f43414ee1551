--TEST--
CANC-4 session_start() that is cancelled while it waits for the lock leaves no session, whose data would be written without the lock
--EXTENSIONS--
session
--INI--
session.use_cookies=0
session.cache_limiter=
--FILE--
<?php
require __DIR__ . '/worker.inc';
use Async\Http\Server;
use function Async\{spawn, withTimeout};

$dir = T\work_in();
ini_set('session.save_path', $dir);
$file = "$dir/sess_abc";
file_put_contents($file, 'balance|i:100;');
/** Another process has the session, changes it, and gives it back. */
$other = proc_open([PHP_BINARY, '-n', '-r', '$f = fopen($argv[1], "r+"); flock($f, LOCK_EX); echo "locked\n"; fgets(STDIN); ftruncate($f, 0); fwrite($f, "balance|i:70;"); fclose($f); echo "done\n";', $file],
    [['pipe', 'r'], ['pipe', 'w']], $pipes);
fgets($pipes[1]);

$server = (new Server(['request_timeout' => 0.3]))->listen('127.0.0.1:0')->worker(function () {
    session_id('abc');
    if ($_SERVER['REQUEST_URI'] === '/limit') {
        try {
            withTimeout(50, fn() => session_start());
        } catch (Async\TimeoutException) {
            echo 'status ', session_status(), ', ';
            $_SESSION['seen'] = true;
            echo session_write_close() ? 'written' : 'not written';
        }
        return;
    }
    session_start(); // until the request has taken too long
    $_SESSION['balance'] = 1;
});
spawn($server->run(...));
echo S\get($server, '/limit'), "\n";
echo S\status(S\send($server, S\request('GET', '/'))), "\n";
fwrite($pipes[0], "\n");
fgets($pipes[1]);
proc_close($other);
echo file_get_contents($file), "\n";
$server->stop();
unlink($file);
?>
--EXPECT--
status 1, not written
503
balance|i:70;
