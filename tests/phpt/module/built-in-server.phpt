--TEST--
Under the built-in web server the module loads and stays harmless, request after request
--FILE--
<?php
require __DIR__ . '/kit.inc';
T\work_in(['page.php' => '<?php $n = 0; if (isset($_GET["plain"])) { echo "plain"; return; } try { $c = Async\spawn(fn() => 5); echo Async\await($c); } catch (Throwable $e) { echo "refused"; }']);

$free = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($free, false);
fclose($free);
$server = proc_open('exec ' . T\interpreter() . " -S $address", [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', 'log', 'w']], $pipes);
for ($i = 0; $i < 200 && !@stream_socket_client("tcp://$address"); $i++) usleep(20_000);
for ($i = 0; $i < 3; $i++) {
    echo file_get_contents("http://$address/page.php?plain=1"), ' ';
    $spawned = @file_get_contents("http://$address/page.php");
    echo $spawned === '5' || $spawned === 'refused' ? 'fine' : var_export($spawned, true), "\n";
}
var_dump(proc_get_status($server)['running']);
proc_terminate($server);
proc_close($server);
?>
--EXPECT--
plain fine
plain fine
plain fine
bool(true)
