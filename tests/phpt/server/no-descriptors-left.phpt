--TEST--
When descriptors have run out, idle connections give theirs to new ones, and one that is free again is used
--EXTENSIONS--
pcntl
--SKIPIF--
<?php
if (!file_exists('/proc/self/fd')) die('skip no /proc');
?>
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';

$file = sys_get_temp_dir() . '/server.php';
file_put_contents($file, '<?php
require getenv("SPINDLE_ROOT") . "/tests/phpt/server/server.inc";
$held = [];
$server = S\serve(function ($request) use (&$held) {
    switch ($request->path()) {
        case "/hold":
            T\until(fn() => $GLOBALS["server"]->stats()["connections"] === 1);
            while ($one = @fopen("/dev/null", "r")) {
                $held[] = $one;
            }
            return new Async\Http\Response("held");
        case "/free":
            Async\delay(300);
            $held = [];
            return new Async\Http\Response("later");
        case "/stop":
            $GLOBALS["server"]->stop();
    }
    return new Async\Http\Response("served");
}, ["keep_alive" => 600]);
echo $server->address(), "\n";
');
$server = popen('ulimit -n 64; exec ' . T\interpreter() . ' -f ' . escapeshellarg($file), 'r');
$address = rtrim(fgets($server));

$connect = fn() => stream_socket_client("tcp://$address");
function ask($client, string $path): string
{
    fwrite($client, "GET $path HTTP/1.1\r\nHost: test\r\n\r\n");
    $answer = '';
    while (!str_contains($answer, "\r\n\r\n") && ($more = fread($client, 8192)) !== '' && $more !== false) {
        $answer .= $more;
    }
    return S\body($answer);
}

// 100 clients keep their connections: each was served.
$idle = [];
for ($i = 0; $i < 100; $i++) {
    $idle[] = $client = $connect();
    $all[ask($client, '/')] = true;
}
echo implode(' ', array_keys($all)), "\n";
unset($client);
$idle = [$last = $connect()];
echo ask($last, '/hold'), "\n";
fwrite($last, "GET /free HTTP/1.1\r\nHost: test\r\n\r\n"); // its connection is in use meanwhile
$new = $connect();
echo ask($new, '/'), "\n";
echo substr(fread($last, 8192), -5), "\n";
echo ask($new, '/stop'), "\n";
pclose($server);
?>
--EXPECT--
served
held
served
later
served
