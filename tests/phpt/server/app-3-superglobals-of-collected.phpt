--TEST--
APP-3 a destructor that the cycle collector runs in another instance sees no request's superglobals, and no session of a client
--EXTENSIONS--
session
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

S\in_each_mode(<<<'PHP'
use function Async\{await, delay, spawn};

ini_set('session.save_path', sys_get_temp_dir());
ini_set('session.use_strict_mode', '0');
final class Left
{
    private self $self;
    public function __construct(private ArrayObject $seen)
    {
        $this->self = $this;
    }
    public function __destruct()
    {
        $this->seen[] = [count($_GET ?? []), count($_COOKIE ?? []), count($_SERVER ?? [])];
        session_start();
        $_SESSION['by'] = 'a destructor';
        session_write_close();
        @unlink(session_save_path() . '/sess_' . session_id());
    }
}
$seen = new ArrayObject;
$ids = ['alice' => bin2hex(random_bytes(8)), 'bob' => bin2hex(random_bytes(8))];
$files = [];
foreach ($ids as $name => $id) {
    file_put_contents($files[$name] = session_save_path() . "/sess_$id", "user|s:" . strlen($name) . ":\"$name\";");
}
gc_disable();
$gate = new Async\Channel;
$in = new ArrayObject;
$server = S\application(function (int $instance) use ($gate, $in, $seen) {
    return function () use ($instance, $gate, $in, $seen) {
        switch ($_GET['do']) {
            case 'leave':
                new Left($seen);
                $in['left'] = $instance;
                break;
            case 'bob':
                $in['bob'] = $instance;
                $gate->recv();
                session_start();
                echo "$_SESSION[user] $_GET[do]";
                session_write_close();
                break;
            case 'alice':
                $in['alice'] = $instance;
                gc_collect_cycles();
                echo $_GET['do'], ' ', $_COOKIE['PHPSESSID'] === $_GET['id'] ? 'has her cookie' : 'HAS ANOTHER COOKIE', ' ';
                session_start();
                echo ($_SESSION['user'] ?? '') === 'bob' ? 'AND THE SESSION OF BOB' : 'and not the session of bob';
                session_write_close();
                break;
        }
    };
}, 2);
$get = fn (string $do, string $id) => S\body(S\send($server, S\request('GET', "/?do=$do&id=$id", '', "Cookie: PHPSESSID=$id\r\n")));
$get('leave', 'none');
$bob = spawn($get(...), 'bob', $ids['bob']);
while (!isset($in['bob'])) delay(1);
echo $in['bob'] === $in['left'] ? 'bob waits where it was left' : 'bob waits elsewhere', '; ', $get('alice', $ids['alice']), ' ';
echo $in['alice'] === $in['left'] ? 'in the same instance' : 'in another instance', '; ';
$gate->send(null);
echo await($bob), '; ', json_encode($seen->getArrayCopy()), ' ', file_get_contents($files['bob']);
S\stopped($server);
array_map(unlink(...), $files);
PHP);
?>
--EXPECT--
without opcache: [0] bob waits where it was left; alice has her cookie and not the session of bob in another instance; bob bob; [[0,0,0]] user|s:3:"bob";
with opcache: [0] bob waits where it was left; alice has her cookie and not the session of bob in another instance; bob bob; [[0,0,0]] user|s:3:"bob";
with its JIT: [0] bob waits where it was left; alice has her cookie and not the session of bob in another instance; bob bob; [[0,0,0]] user|s:3:"bob";
