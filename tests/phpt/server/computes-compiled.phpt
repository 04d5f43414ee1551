--TEST--
APP-4 code that the JIT has compiled is interrupted as well: for slices, and for the time limits of requests
--INI--
async.time_slice_ms=2
opcache.enable_cli=1
opcache.file_update_protection=0
opcache.jit=tracing
opcache.jit_buffer_size=16M
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
use function Async\{spawn, await};

$quick = new ArrayObject;
$log = S\log_file();
$handler = fn(Async\Http\Request $request) => match ($request->path()) {
    '/quick' => (string) $quick->append(1),
    '/computes' => (function() use ($quick) {
        for ($before = count($quick); count($quick) < $before + 3; );
        return 'computed';
    })(),
    '/loop' => (function() {
        for (;;);
    })(),
    '/stubborn' => (function() {
        while (true) {
            try {
                for (;;);
            } catch (Throwable $thrown) {
                error_log(get_class($thrown));
            }
        }
    })(),
};
$server = S\serve($handler);
$computed = spawn(S\get(...), $server, '/computes');
while (!$computed->isCompleted()) {
    S\get($server, '/quick');
}
echo await($computed), "\n";
$server->stop();

$server = S\serve($handler, ['request_timeout' => 0.3, 'cancel_grace' => 0.3]);
$loops = [];
foreach (['loop', 'stubborn', 'stubborn'] as $path) {
    $loops[] = spawn(fn() => S\status(S\send($server, S\request('GET', "/$path"))));
}
// Whichever comes first: the answer at the limit, or the one for code that was ended.
echo implode(' ', array_diff(array_map(await(...), $loops), ['500', '503'])), "all are answered\n";
while (substr_count(file_get_contents($log), 'Fatal error') < 2) {
    Async\delay(5);
}
$server->stop();
echo 'what goes on is ended: ', substr_count(S\reports($log), 'Fatal error'), "\n";
?>
--EXPECT--
computed
all are answered
what goes on is ended: 2
