--TEST--
H11 extensions that PHP loads with RTLD_DEEPBIND, at its start or by dl() after the first spawn, give way as well
--SKIPIF--
<?php
foreach (['sockets', 'posix'] as $name) if (!file_exists(ini_get('extension_dir') . "/$name.so")) die("skip $name is not a shared extension here");
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    use function Async\{await, delay, spawn};
    function received(string $when): void
    {
        socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair);
        $ticks = 0;
        $ticker = spawn(function() use (&$ticks, $pair) { while ($ticks < 5) { delay(2); $ticks++; } socket_write($pair[1], 'sent'); });
        $got = await(spawn(function() use ($pair) { socket_recv($pair[0], $data, 10, 0); return $data; }));
        echo "$when: $got, ticks $ticks\n";
    }
    await(spawn(fn() => usleep(1000)));
    if (!extension_loaded('sockets')) {
        dl('sockets');
        received('loaded after the first spawn');
    } else {
        received('loaded at the start');
    }
    PHP;
preg_match('/extension=("?)([^"\s]*spindle[^"\s]*)/', getenv('TEST_PHP_EXTRA_ARGS') ?: '', $m);
$spindle = $m[2] ?? 'spindle';
file_put_contents($file = tempnam(sys_get_temp_dir(), 'spindle-phpt-'), "<?php\n$code");
$php = escapeshellarg(PHP_BINARY) . ' -n -d enable_dl=1 -d extension=' . escapeshellarg($spindle);
echo T\command("$php -d extension=sockets $file");
echo T\command("$php $file");
unlink($file);
?>
--EXPECT--
[0] loaded at the start: sent, ticks 5
[0] loaded after the first spawn: sent, ticks 5
