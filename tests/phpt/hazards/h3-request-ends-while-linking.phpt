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
    spawn(function() { eval('if (true) { class Named extends ParentOfNamed {} }'); });
    suspend();
    suspend();
    echo "page\n";
    ini_set('memory_limit', '8M');
    ini_set('display_errors', '0');
    str_repeat('x', 100_000_000);
    PHP]);
$free = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($free, false);
fclose($free);
$server = proc_open('exec ' . T\interpreter() . " -S $address", [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['file', 'log', 'w']], $pipes);
for ($i = 0; $i < 500 && !@stream_socket_client("tcp://$address"); $i++) usleep(20_000);
$context = stream_context_create(['http' => ['ignore_errors' => true]]);
for ($request = 0; $request < 5; $request++) echo file_get_contents("http://$address/page.php", false, $context);
T\check('it lives', proc_get_status($server)['running'], file_get_contents('log'));
proc_terminate($server);
proc_close($server);
?>
--EXPECT--
page
page
page
page
page
it lives: yes
