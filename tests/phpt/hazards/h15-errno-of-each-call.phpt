--TEST--
H15 the error of a call is that call's own, although others fail in other ways between its parts
--EXTENSIONS--
posix
sockets
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in(['file' => 'x']);

[$gone, $refused] = T\listener();
fclose($gone);
$fail = [
    'refused' => function() use ($refused) { @stream_socket_client($refused, $errno, $error, 600); return $errno === SOCKET_ECONNREFUSED; },
    'missing' => fn() => @fopen('missing', 'r') === false && str_contains(error_get_last()['message'], 'No such file'),
    'a directory' => fn() => @file_put_contents('.', 'x') === false && str_contains(error_get_last()['message'], 'Is a directory'),
    'not for reading' => fn() => @fread(fopen('other', 'w'), 1) === false && str_contains(error_get_last()['message'], 'errno=9 '),
    'no file' => fn() => @file_get_contents('.') === '' && str_contains(error_get_last()['message'], 'errno=21 '),
    'full' => fn() => @file_put_contents('/dev/full', 'x') !== 1 && str_contains(error_get_last()['message'], 'errno=28'),
    'timeout' => function() { socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $p); socket_set_option($p[0], SOL_SOCKET, SO_RCVTIMEO, ['sec' => 0, 'usec' => 1000]); return @socket_read($p[0], 1) === false && socket_last_error($p[0]) === SOCKET_EAGAIN; },
    'broken pipe' => function() { socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $p); socket_close($p[1]); return @socket_write($p[0], 'x') === false && socket_last_error($p[0]) === SOCKET_EPIPE; },
    'no process' => fn() => !posix_kill(999_999_999, 0) && posix_get_last_error() === 3,
    'not connected' => function() { $s = socket_create(AF_INET, SOCK_STREAM, SOL_TCP); return @socket_recv($s, $b, 1, 0) === false && socket_last_error($s) === SOCKET_ENOTCONN; },
    'nothing yet, often' => function() {
        socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $p);
        for ($i = 0; $i < 200; $i++) {
            if (@socket_recv($p[0], $b, 1, MSG_DONTWAIT) !== false || socket_last_error($p[0]) !== SOCKET_EAGAIN) return false;
        }
        return true;
    },
];
$jobs = [];
foreach ($fail as $name => $call) {
    for ($i = 0; $i < 3; $i++) {
        $jobs["$name $i"] = spawn(function() use ($call) {
            for ($n = 0; $n < 15; $n++) {
                if (!$call()) return "wrong in round $n";
                $n % 2 ? suspend() : delay(1);
            }
            return 'own';
        });
    }
}
$wrong = array_filter(T\all($jobs), fn($r) => $r !== 'own');
T\check('errors', $wrong === [], $wrong);
?>
--EXPECT--
errors: yes
