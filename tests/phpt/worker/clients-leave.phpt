--TEST--
Worker mode: requests that wait for a client end when it has left, also in the middle of a body or a response
--EXTENSIONS--
sockets
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';

$log = [];
$written = 0;
$server = S\worker(function () use (&$log, &$written) {
    ignore_user_abort(isset($_GET['ignore']));
    $log[] = 'called';
    register_shutdown_function(function () use (&$log) { $log[] = 'aborted ' . connection_aborted(); });
    if ($_GET['what'] === 'write') {
        for ($written = 0; $written < 64; $written++) echo str_repeat('x', 1 << 20);
        $log[] = "$written written";
        return;
    }
    if ($_GET['what'] === 'print') { // its whole response at its end, which was given no client
        while (!connection_aborted()) usleep(500);
        echo str_repeat('x', 10_000);
        $log[] = 'returned';
        return;
    }
    try {
        $log[] = strlen(file_get_contents('php://input')) . ' bytes';
    } catch (Async\Http\BadRequest $e) {
        $log[] = $e->getMessage();
    }
}, ['body_timeout' => 0, 'write_window' => 1 << 20]);

/** Runs a request that waits for its client, has that leave, and waits for its end. */
function leaves(string $what, callable $how): string
{
    global $server, $log, $written;
    [$log, $written] = [[], 0];
    $client = S\connect($server);
    $has_body = str_starts_with($what, 'read');
    fwrite($client, ($has_body ? 'PUT' : 'GET') . " /?what=$what HTTP/1.1\r\nHost: test\r\n" . ($has_body ? "Content-Length: 9\r\n" : '') . "\r\n");
    T\until(fn() => $GLOBALS['log'] !== []);
    $before = -1;
    T\until(function () use (&$before) {
        [$same, $before] = [$before === $GLOBALS['written'], $GLOBALS['written']];
        T\turns(20);
        return $same;
    });
    $how($client);
    unset($client);
    T\until(fn() => $server->stats()['running'] === 0);
    return implode(', ', $log);
}

$ways = [
    'close' => fclose(...),
    'shutdown' => fn($client) => stream_socket_shutdown($client, STREAM_SHUT_WR),
    'reset' => fn($client) => socket_set_option(socket_import_stream($client), SOL_SOCKET, SO_LINGER, ['l_onoff' => 1, 'l_linger' => 0]) && fclose($client),
    'all, and close' => function ($client) { fwrite($client, 'the whole'); fclose($client); },
];
foreach ($ways as $name => $how) {
    foreach (['read', 'read&ignore', ...(str_starts_with($name, 'all') ? [] : ['write', 'write&ignore', 'print'])] as $what) {
        // Of a whole body it depends on what is seen first. In any case the request ends.
        echo "$name, $what: ", str_starts_with($name, 'all') ? preg_replace('/(9 bytes|The body of the request is incomplete), aborted [01]/', 'either', leaves($what, $how)) : leaves($what, $how), "\n";
    }
}
$server->stop();
?>
--EXPECT--
close, read: called, The body of the request is incomplete, aborted 1
close, read&ignore: called, The body of the request is incomplete, aborted 1
close, write: called, aborted 1
close, write&ignore: called, 64 written, aborted 1
close, print: called, returned, aborted 1
shutdown, read: called, The body of the request is incomplete, aborted 1
shutdown, read&ignore: called, The body of the request is incomplete, aborted 1
shutdown, write: called, aborted 1
shutdown, write&ignore: called, 64 written, aborted 1
shutdown, print: called, returned, aborted 1
reset, read: called, The body of the request is incomplete, aborted 1
reset, read&ignore: called, The body of the request is incomplete, aborted 1
reset, write: called, aborted 1
reset, write&ignore: called, 64 written, aborted 1
reset, print: called, returned, aborted 1
all, and close, read: called, either
all, and close, read&ignore: called, either
