--TEST--
IO-8 of the persistent connections that coroutines had at once, one lives on after the request
--FILE--
<?php
require __DIR__ . '/kit.inc';
[$listener, $address] = T\listener();
T\work_in(['page.php' => <<<'PHP'
    <?php
    use function Async\{await, spawn, suspend};

    $connect = function() {
        $connection = pfsockopen($_GET['to']);
        suspend(); // the other one asks meanwhile
        return $connection;
    };
    $jobs = [spawn($connect), spawn($connect), spawn($connect)];
    foreach ($jobs as $job) await($job);
    echo "connected\n";
    PHP]);
$free = stream_socket_server('tcp://127.0.0.1:0');
$server_address = stream_socket_get_name($free, false);
fclose($free);
$server = proc_open('exec ' . T\interpreter() . " -S $server_address", [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', 'log', 'w']], $pipes);
for ($i = 0; $i < 500 && !@stream_socket_client("tcp://$server_address"); $i++) usleep(20_000);
$query = http_build_query(['to' => $address]);
for ($request = 0; $request < 3; $request++) echo file_get_contents("http://$server_address/page.php?$query");
// One of each request's three is the next one's first.
$accepted = $ended = 0;
$all = [];
while ($connection = @stream_socket_accept($listener, 0)) { $accepted++; $all[] = $connection; }
foreach ($all as $connection) { stream_set_blocking($connection, false); fread($connection, 1); $ended += feof($connection); }
echo "$accepted accepted, ", $accepted - $ended, " left\n";
proc_terminate($server);
proc_close($server);
?>
--EXPECT--
connected
connected
connected
7 accepted, 1 left
