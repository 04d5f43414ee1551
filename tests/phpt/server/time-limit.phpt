--TEST--
PHP's time limit, set in a handler, is its request's: it ends that alone, and the setting is restored
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';

$log = S\log_file();
$server = S\serve(function (Async\Http\Request $request) {
    if ($request->path() === '/loop') {
        set_time_limit(1);
        try {
            for (;;);
        } catch (Throwable $never) {
            return 'caught';
        }
    }
    if ($request->path() === '/sets') {
        set_time_limit(1);
    }
    return ini_get('max_execution_time');
}, ['request_timeout' => 0]);
echo S\get($server, '/sets'), S\get($server, '/'), "\n";
echo S\status(S\send($server, S\request('GET', '/loop'))), S\get($server, '/'), "\n", S\reports($log), "\n";
$server->stop();
?>
--EXPECT--
10
5000
Fatal error:  Maximum execution time of 1 second exceeded
