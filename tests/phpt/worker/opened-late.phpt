--TEST--
What coroutines open that outlive their request in worker mode is closed with the last one: a session, php://input
--INI--
error_reporting=24575
session.use_cookies=0
session.use_only_cookies=0
session.cache_limiter=
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await};

session_save_path(__DIR__);
[$go, $opened] = [new Async\Channel(1), new Async\Channel(1)];
$server = S\worker(function () use ($go, $opened, &$child) {
    if ($_GET['what'] === 'read') {
        session_id('spindleopenedlate');
        session_start();
        echo json_encode($_SESSION);
        session_destroy();
        return;
    }
    $what = $_GET['what'];
    $child = spawn(function () use ($what, $go) {
        $go->recv();
        if ($what === 'session') {
            session_id('spindleopenedlate');
            @session_start();
            $_SESSION['x'] = 1;
        } else {
            file_get_contents('php://input');
        }
    });
    echo 'ended';
});
$late = function (string $what) use ($server, $go, &$child) {
    $answer = S\answer($server, "/?what=$what");
    $go->send(true);
    await($child);
    $child = null;
    return $answer;
};
echo $late('session'), "\n", S\answer($server, '/?what=read'), "\n";
$late('input');
$before = count(get_resources());
for ($i = 0; $i < 3; $i++) {
    $late('input');
}
echo count(get_resources()) - $before, " more resources\n";
$server->stop();
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/sess_spindleopenedlate');
?>
--EXPECT--
200 ended
200 {"x":1}
0 more resources
