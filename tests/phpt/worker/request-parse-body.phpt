--TEST--
request_parse_body() reads the body of its own request, with its own options, while others do
--SKIPIF--
<?php if (PHP_VERSION_ID < 80400) die('skip that function came with PHP 8.4'); ?>
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{await, delay, spawn};

$log = S\log_file();
$files = [];
$begun = 0;
$server = S\worker(function () use (&$files, &$begun) {
    $begun++;
    $parse = function (array $options = []) use (&$files) {
        try {
            [$post, $sent] = request_parse_body($options);
            array_push($files, ...array_column($sent, 'tmp_name'));
            return [$post, array_map(fn($file) => [$file['name'], file_get_contents($file['tmp_name'])], $sent)];
        } catch (Throwable $e) {
            return $e::class . ': ' . $e->getMessage();
        }
    };
    echo json_encode(match ($_GET['how'] ?? '') {
        'twice' => [$parse(), $parse()],
        'two' => array_map(await(...), [spawn($parse), spawn($parse)]),
        default => $parse(json_decode($_GET['options'] ?? '[]', true)),
    }), json_encode($_POST);
});
const FORM = 'application/x-www-form-urlencoded';
const PARTS = 'multipart/form-data; boundary=XX';
$send = fn(string $body, string $type = FORM, array $options = [], string $method = 'PUT', string $how = '')
    => S\body(S\send($server, S\request($method, "/?how=$how&options=" . urlencode(json_encode($options)), $body, "Content-Type: $type\r\n"))) . "\n";
$part = fn(string $name, string $content, string $file = '') => "--XX\r\nContent-Disposition: form-data; name=\"$name\""
    . ($file === '' ? '' : "; filename=\"$file\"") . "\r\n\r\n$content\r\n";
// A client that sends its body in two pieces.
$slow = function (string $body, string $type, array $options = [], string $how = '') use ($server, &$begun) {
    $number = $begun;
    $client = S\connect($server);
    fwrite($client, "PUT /?how=$how&options=" . urlencode(json_encode($options)) . " HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: $type\r\n"
        . 'Content-Length: ' . strlen($body) . "\r\n\r\n" . substr($body, 0, -5));
    T\until(function () use (&$begun, $number) { return $begun > $number; });
    T\turns(3);
    return function () use ($client, $body) { fwrite($client, substr($body, -5)); return S\body(stream_get_contents($client)) . "\n"; };
};

echo $send('a=1&b[]=2'), $send('a=1', method: 'POST'), $send('{}', 'application/json'), $send('junk', 'multipart/form-data');
echo $send($part('a', '1') . $part('f', 'content', 'name') . "--XX--\r\n", PARTS), $send('a=1', how: 'twice');

// Options and exceptions are those of the call, which waits while others make theirs.
$one = $slow('a=1&b=2', FORM, ['max_input_vars' => 1]);
$two = $slow($part('a', '1') . $part('b', '2') . "--XX--\r\n", PARTS, ['max_multipart_body_parts' => 1]);
echo '-- meanwhile: ', $send('a=1&b=2&c=3'), '-- meanwhile: ', $send($part('a', '1') . $part('b', '2') . "--XX--\r\n", PARTS);
echo '-- meanwhile: ', $send('a=1&b=2', method: 'POST'), S\reports($log), "\n";
echo $send('junk', 'multipart/form-data', method: 'POST'), S\reports($log), "\n";
echo $two(), $one(), S\reports($log), "\n";

// The body is read once, whoever of the request's coroutines comes first.
$both = $slow('a=1&b=2', FORM, how: 'two');
echo $both();

// A client that leaves in the middle: what has come of its body is not taken for the whole one.
$client = S\connect($server);
fwrite($client, "PUT / HTTP/1.1\r\nHost: test\r\nContent-Type: " . PARTS . "\r\nContent-Length: 1000\r\n\r\n" . $part('f', str_repeat('x', 100), 'left'));
T\until(fn() => $server->stats()['running'] === 1);
fclose($client);
T\until(fn() => $server->stats()['running'] === 0);
echo $send('a=1');
$server->stop();
echo count($files), ' files, ', count(array_filter($files, file_exists(...))), " left\n";

// Nobody's request has a body.
echo S\refused(request_parse_body(...)), "\n";
?>
--EXPECTF--
[{"a":"1","b":["2"]},[]][]
[[],[]]{"a":"1"}
"RequestParseBodyException: Content-Type \"application\/json\" is not supported"[]
"RequestParseBodyException: Missing boundary in multipart\/form-data POST data"[]
[{"a":"1"},{"f":["name","content"]}][]
[[{"a":"1"},[]],[[],[]]][]
-- meanwhile: [{"a":"1","b":"2","c":"3"},[]][]
-- meanwhile: [{"a":"1","b":"2"},[]][]
-- meanwhile: [[],[]]{"a":"1","b":"2"}

"RequestParseBodyException: Missing boundary in multipart\/form-data POST data"[]
Warning:  %s: Missing boundary in multipart/form-data POST data
"RequestParseBodyException: Multipart body parts limit exceeded 1. To increase the limit change max_multipart_body_parts in php.ini."[]
[{"a":"1","b":"2"},[]][]
Warning:  request_parse_body(): Input variables exceeded 1. To increase the limit change max_input_vars in php.ini.
[[{"a":"1","b":"2"},[]],[[],[]]][]
[{"a":"1"},[]][]
1 files, 0 left
RequestParseBodyException: Request does not provide a content type
