--TEST--
exit ends its request wherever it is called: in the handler, a child, an output callback, a shutdown function
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await, delay};

$log = S\log_file();
$server = S\worker(function () {
    switch ($_GET['how'] ?? '') {
        case 'plain':
            try {
                echo 'before ';
                exit('bye ');
            } finally {
                echo 'never';
            }
        case 'nested':
            array_map(function () { usleep(1000); exit(3); }, [1]);
            break;
        case 'child':
            echo 'parent ';
            spawn(function () { echo 'child '; exit('out '); });
            try {
                delay(60000);
            } finally {
                echo 'cancelled ';
            }
            echo 'never';
            break;
        case 'callback':
            ob_start(function ($text) { exit(1); });
            echo 'lost';
            ob_end_flush();
            echo 'never';
            break;
        case 'shutdown':
            register_shutdown_function(function () { echo 'first '; usleep(1000); exit; });
            register_shutdown_function(function () { echo 'second'; });
            break;
        case 'shutdown-throws':
            register_shutdown_function(function () { echo 'first '; throw new Exception('late'); });
            register_shutdown_function(function () { echo 'second'; });
            break;
        case 'header':
            header_register_callback(function () { header('X-Called: yes'); exit; });
            echo 'text ';
            break;
        case 'adds':
            register_shutdown_function(function () {
                echo 'one ';
                register_shutdown_function(function () { echo 'two '; });
            });
            exit;
        case 'destructor':
            $kept = new class { function __destruct() { usleep(1000); echo 'destructed '; exit; } };
            unset($kept);
            echo 'never';
    }
});
$others = 0;
foreach (['plain', 'nested', 'child', 'callback', 'shutdown', 'shutdown-throws', 'header', 'adds', 'destructor', ''] as $how) {
    echo "$how: ", S\answer($server, "/?how=$how"), "\n";
}
echo S\reports($log);
$server->stop();
?>
--EXPECTF--
plain: 200 before bye
nested: 200 
child: 200 parent child out cancelled
callback: 200 lost
shutdown: 200 first
shutdown-throws: 500 first
header: 200 text
adds: 200 one two
destructor: 200 destructed
: 200 
Fatal error:  Uncaught Exception: late in %s:%d
Stack trace:
#0 [internal function]: {closure}()
#1 [internal function]: Async\Http\Server::run()
#2 %s(%d): Async\Http\Server::run()
#3 {main}
  thrown
