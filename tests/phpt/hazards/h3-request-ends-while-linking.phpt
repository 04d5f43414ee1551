--TEST--
H3 a request that ends in the middle of linking leaves nothing of it to the next one
--FILE--
<?php
require __DIR__ . '/kit.inc';
T\work_in(['page.php' => <<<'PHP'
    <?php
    use function Async\{spawn, suspend};

    spl_autoload_register(function(string $class) {
        Async\protect(function() { for ($turn = 0; $turn < 50; $turn++) suspend(); });
        eval("class $class {}");
    });
    spawn(fn() => new class extends ParentOfAnonymous {});
    spawn(function() { eval('if (true) { class Named' . bin2hex(random_bytes(rand(3, 20))) . ' extends ParentOfNamed {} }'); });
    suspend();
    suspend();
    echo "page\n";
    ini_set('memory_limit', '8M');
    ini_set('display_errors', '0');
    if ($_GET['ends'] === 'by an error') str_repeat('x', 100_000_000);
    exit;
    PHP]);
$free = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($free, false);
fclose($free);
// Memory that was freed with its request cannot be freed again by what was left behind.
$server = proc_open('USE_ZEND_ALLOC=0 USE_TRACKED_ALLOC=1 exec ' . T\interpreter() . " -S $address", [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', 'log', 'w']], $pipes);
for ($i = 0; $i < 500 && !@stream_socket_client("tcp://$address"); $i++) usleep(20_000);
$context = stream_context_create(['http' => ['ignore_errors' => true]]);
$pages = 0;
for ($request = 0; $request < 6; $request++) {
    $query = http_build_query(['ends' => $request % 2 ? 'by exit' : 'by an error']);
    $pages += @file_get_contents("http://$address/page.php?$query", false, $context) === "page\n";
}
echo "$pages pages\n";
T\check('it lives', proc_get_status($server)['running'], file_get_contents('log'));
proc_terminate($server);
proc_close($server);
?>
--EXPECT--
6 pages
it lives: yes
