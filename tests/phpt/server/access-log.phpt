--TEST--
Async\Http: the access log: formats, callables, what is written cannot be forged, failures, the end of the server
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Response, Server};
use function Async\{delay, spawn};

$log = S\log_file();
$start = function($to, string ...$format): Server {
    $server = (new Server(['max_body_size' => 10]))->listen('127.0.0.1:0')->accessLog($to, ...$format);
    $server->handle(fn(Request $r) => $r->path() === '/none' ? null : "you ask for {$r->path()}");
    spawn($server->run(...));
    return $server;
};
$ends = function(Server $server) {
    $server->stop();
    T\until(fn() => $server->stats()['connections'] === 0);
    delay(1);
};

echo "--- combined\n";
$file = fopen('php://memory', 'w+');
$server = $start($file);
S\get($server, '/a?b=%22c');
S\get($server, '/none', "Referer: http://x/\r\nUser-Agent: \"evil\\\" \xe4\t1\r\n");
S\send($server, S\request('POST', '/large', 'more than allowed'));
$ends($server);
rewind($file);
echo preg_replace(['/\[\d\d\/\w{3}\/\d{4}(:\d\d){3} [+-]\d{4}]/', '/ [0-9a-f]{32}$/m'], ['[time]', ' id'], stream_get_contents($file));

echo "--- json\n";
$file = fopen('php://memory', 'w+');
$server = $start($file, 'json');
S\get($server, '/a', "User-Agent: \"evil\" \xe4\r\n");
$ends($server);
rewind($file);
$entry = json_decode(fgets($file), true);
var_dump(feof($file) || fgets($file) === false, preg_match('/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/', $entry['time']), $entry['duration'] < 60, $entry['port'] > 1024);
var_dump(preg_match('/^[0-9a-f]{32}$/', $entry['request_id']), $entry['coroutine'] > 1);
unset($entry['time'], $entry['duration'], $entry['port'], $entry['request_id'], $entry['coroutine']);
echo json_encode($entry, JSON_UNESCAPED_SLASHES), "\n";

echo "--- logfmt\n";
$file = fopen('php://memory', 'w+');
$server = $start($file, 'logfmt');
S\get($server, '/a?b=1', "User-Agent: \"evil\" a=b\t\xe4\r\nReferer: http://x/a-1\r\n");
$ends($server);
rewind($file);
$line = fgets($file);
var_dump(feof($file) || fgets($file) === false, preg_match('/^time=\S+Z client=127\.0\.0\.1 port=\d+ (.*) duration=[\d.Ee-]+ (.*) request_id=[0-9a-f]{32} coroutine=\d+$/', $line, $found));
echo "$found[1] ... $found[2]\n";

echo "--- a callable that blocks keeps no request waiting, and one that throws is reported\n";
$seen = new ArrayObject;
$server = $start(function(array $entry) use ($seen) {
    usleep(20_000);
    $seen[] = $entry['target'];
    if ($entry['target'] === '/0') throw new RuntimeException('thrown');
});
for ($i = 0; $i < 5; $i++) echo S\get($server, "/$i"), $i < 4 ? ', ' : "\n";
var_dump(count($seen) < 5);
$server->stop();
T\until(fn() => in_array('/4', (array) $seen, true));
echo implode(' ', (array) $seen), "\n", S\reports($log), "\n";

echo "--- nothing is lost because of an exception, or of the end of the coroutine that writes\n";
$gate = new Async\Channel;
$seen = new ArrayObject;
$server = $start(function(array $entry) use ($seen, $gate) {
    $seen[] = $entry['target'];
    if ($entry['target'] === '/wait') $gate->recv();
    if ($entry['target'] === '/1') throw new RuntimeException('one');
    if ($entry['target'] === '/2') throw new Async\CancellationException('two');
});
foreach (['wait', 1, 2, 3] as $what) S\get($server, "/$what");
T\until(fn() => count($seen) === 1 && $server->stats()['connections'] === 0);
$gate->send(1);
T\until(fn() => count($seen) >= 3);
S\get($server, '/4');
$ends($server);
echo implode(' ', (array) $seen), "\n", S\reports($log), "\n", json_encode($server->stats()['unlogged']), "\n";

echo "--- what is lost is counted, and told\n";
$seen->exchangeArray([]);
$server = $start(function(array $entry) use ($seen, $gate) {
    if (count($seen) === 0) { $seen[] = 1; $gate->recv(); }
});
S\get($server, '/');
T\until(fn() => count($seen) === 1);
$client = S\connect($server);
for ($i = 0; $i < 101; $i++) {
    fwrite($client, str_repeat("GET /none HTTP/1.1\r\nHost: x\r\n\r\n", 100));
    for ($lines = 0; $lines < 100; $lines += ($line = fgets($client)) === "\r\n");
}
fclose($client);
T\until(fn() => $server->stats()['connections'] === 0);
var_dump($server->stats()['unlogged']);
$gate->send(1);
$ends($server);
T\until(fn() => ($GLOBALS['text'] = S\reports($log)) !== '');
echo $text, "\n";
stream_wrapper_register('refuses', get_class(new class {
    static bool $refuses = true;
    static string $text = '';
    public $context;
    function stream_open() { return true; }
    function stream_eof() { return false; }
    function stream_write(string $data) { if (self::$refuses) return 0; self::$text .= $data; return strlen($data); }
}), 0);
$class = get_class((stream_get_meta_data($file = fopen('refuses://', 'w')))['wrapper_data']);
$server = $start($file);
S\get($server, '/none');
T\until(fn() => ($GLOBALS['text'] = S\reports($log)) !== '');
echo $text, "\n";
$class::$refuses = false;
S\get($server, '/none');
$ends($server);
echo strtok($class::$text, "\n"), ' ', substr_count($class::$text, "\n"), ' ', $server->stats()['unlogged'], "\n";

echo "--- misuse\n";
foreach (['text', null, 1] as $to) echo S\refused(fn() => (new Server)->accessLog($to)), "\n";
echo S\refused(fn() => (new Server)->accessLog(STDERR, 'xml')), "\n";
$closed = fopen('php://memory', 'w');
$server = $start($closed);
fclose($closed);
S\get($server, '/');
T\until(fn() => ($GLOBALS['text'] = S\reports($log)) !== '');
echo $text, "\n";
$ends($server);
?>
--EXPECTF--
--- combined
127.0.0.1 - - [time] "GET /a?b=%22c HTTP/1.1" 200 14 "-" "-" id
127.0.0.1 - - [time] "GET /none HTTP/1.1" 204 - "http://x/" "\x22evil\x5c\x22 \xe4\x091" id
127.0.0.1 - - [time] "POST /large HTTP/1.1" 413 22 "-" "-" id
--- json
bool(true)
int(1)
bool(true)
bool(true)
int(1)
bool(true)
{"client":"127.0.0.1","method":"GET","target":"/a","scheme":"http","protocol":"HTTP/1.1","status":200,"bytes":14,"host":"test","referer":null,"agent":"\"evil\" %s","trace_id":null,"worker":null}
--- logfmt
bool(true)
int(1)
method=GET target="/a?b=1" scheme=http protocol=HTTP/1.1 status=200 bytes=14 ... host=test referer=http://x/a-1 agent="\"evil\" a=b\t%s"
--- a callable that blocks keeps no request waiting, and one that throws is reported
you ask for /0, you ask for /1, you ask for /2, you ask for /3, you ask for /4
bool(true)
/0 /1 /2 /3 /4
Warning:  Uncaught RuntimeException: thrown
--- nothing is lost because of an exception, or of the end of the coroutine that writes
/wait /1 /2 /3 /4
Warning:  Uncaught RuntimeException: one
0
--- what is lost is counted, and told
int(100)
Warning:  Uncaught Async\Http\ServerException: 100 requests are not in the access log, which is written too slowly
Warning:  Uncaught Async\Http\ServerException: The access log cannot be written
1 requests are not in this log, because writing it was too slow or has failed 2 1
--- misuse
TypeError: Async\Http\Server::accessLog(): Argument #1 ($to) must be a valid callback, %s
TypeError: Async\Http\Server::accessLog(): Argument #1 ($to) must be a valid callback, %s
TypeError: Async\Http\Server::accessLog(): Argument #1 ($to) must be a valid callback, %s
ValueError: Server::accessLog(): Argument #2 ($format) must be "combined", "json" or "logfmt"
Warning:  Uncaught Async\Http\ServerException: The stream of the access log is closed
