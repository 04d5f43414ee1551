--TEST--
OBS-3 the child of a fork logs no request as slow: those that it knows are handled by its parent
--EXTENSIONS--
ffi
pcntl
--INI--
ffi.enable=1
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\Request;

$log = tempnam(sys_get_temp_dir(), 'spindle-phpt-'); // which the end of the child must not remove
ini_set('log_errors', '1');
ini_set('error_log', $log);
$library = FFI::cdef('int usleep(unsigned int);');
$server = S\serve(function (Request $request) use ($library): string {
    $child = pcntl_fork();
    if ($child > 0) {
        return (string) $child;
    }
    $ends = hrtime(true) + 1_200_000_000;
    if ($request->path() === '/blocks') {
        $library->usleep(1_200_000); // it is seen to be slow when the handler has ended
    }
    while (hrtime(true) < $ends);
    exit(7);
}, ['slow_request' => 1]);

foreach (['/computes', '/blocks'] as $path) {
    $child = (int) S\get($server, $path);
    pcntl_waitpid($child, $status);
    echo $path, ' ', pcntl_wexitstatus($status), ' ', var_export(file_get_contents($log), true), "\n";
}
$server->stop();
unlink($log);
?>
--EXPECT--
/computes 7 ''
/blocks 7 ''
