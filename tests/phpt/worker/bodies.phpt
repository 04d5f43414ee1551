--TEST--
Bodies in worker mode: forms and uploads by PHP's own parser and its limits, php://input; what is uploaded is removed
--INI--
upload_max_filesize=1000
post_max_size=8000
max_file_uploads=3
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await, delay};

$log = S\log_file();
$paths = [];
$server = S\worker(function () use (&$paths) {
    usleep(1000);
    switch ($_GET['what'] ?? '') {
        case 'form':
            echo json_encode([$_POST, $_REQUEST, file_get_contents('php://input'), file_get_contents('php://input')]);
            break;
        case 'input':
            $input = fopen('php://input', 'r');
            $GLOBALS['held'] = $input; // read later by another request
            echo fread($input, 4), '|', stream_get_contents($input), '|', json_encode($_POST);
            break;
        case 'held':
            echo get_debug_type($GLOBALS['held']);
            break;
        case 'upload':
            foreach ($_FILES as $name => $file) {
                $paths[] = $file['tmp_name'];
                echo "$name: {$file['name']} {$file['type']} {$file['size']} error {$file['error']} ", is_uploaded_file($file['tmp_name']) ? md5_file($file['tmp_name']) : '-', "\n";
            }
            usleep(1000);
            if (isset($_POST['move'])) {
                $to = tempnam(sys_get_temp_dir(), 'moved');
                var_dump(move_uploaded_file($_FILES['a']['tmp_name'], $to), file_get_contents($to) === $_POST['move']);
                unlink($to);
            }
            break;
        case 'cut':
            $GLOBALS['cut'][] = 'called';
            try {
                $GLOBALS['cut'][] = 'handled with ' . strlen(file_get_contents('php://input')) . ' bytes';
            } catch (Async\Http\BadRequest $bad) {
                $GLOBALS['cut'][] = $bad->getMessage();
                throw $bad;
            }
            break;
        default:
            echo json_encode([$_SERVER['REQUEST_METHOD'], $_POST, $_FILES, $_SERVER['PHP_AUTH_USER'] ?? null, $_SERVER['PHP_AUTH_PW'] ?? null]);
    }
});
$post = fn(string $path, string $body, string $type = 'application/x-www-form-urlencoded', string $more = '')
    => S\send($server, S\request('POST', $path, $body, "Content-Type: $type\r\n$more"));
$show = function (string $answer) { echo S\status($answer), ' ', S\body($answer), "\n"; };

$show($post('/?what=form&x=1', 'a[b][]=1&a[b][]=2&c.d=3&x=2'));
$show($post('/?what=input', '{"json": true}', 'application/json'));
$show(S\send($server, S\request('GET', '/?what=held')));
$show(S\send($server, S\request('PUT', '/?what=input', 'put it')));
$part = fn(string $name, string $content, string $file = '') => "--XX\r\nContent-Disposition: form-data; name=\"$name\"" .
    ($file === '' ? '' : "; filename=\"$file\"\r\nContent-Type: text/x-y") . "\r\n\r\n$content\r\n";
$clients = [];
foreach (range(1, 5) as $n) {
    $content = str_repeat($n, 100 * $n);
    $clients[] = spawn(fn() => [$content, $post('/?what=upload', $part('a', $content, "dir/n$n.txt") . $part('move', $content) . $part('big', str_repeat('y', 1001), 'big') . "--XX--\r\n", 'multipart/form-data; boundary=XX')]);
}
foreach ($clients as $client) {
    [$content, $answer] = await($client);
    echo S\status($answer), ' ', str_replace(md5($content), 'MD5', S\body($answer));
}
$show($post('/?what=upload', $part('a', '1', 'a') . $part('b', '2', 'b') . $part('c', '3', 'c') . $part('d', '4', 'd') . "--XX--\r\n", 'multipart/form-data; boundary=XX'));
$show($post('/', str_repeat('a=b&', 3000)));
$show($post('/', '', more: "Authorization: Basic " . base64_encode('me:secret') . "\r\n"));
// A body that comes slowly, while others are served.
$client = S\connect($server);
fwrite($client, "POST /?what=form HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\na=1");
delay(10);
$show(S\send($server, S\request('GET', '/')));
fwrite($client, '&b=2');
$show(stream_get_contents($client));
// One that breaks off.
$client = S\connect($server);
fwrite($client, "POST /?what=form HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\na=1");
T\until(fn() => $server->stats()['running'] === 1);
fclose($client);
T\until(fn() => $server->stats()['running'] === 0);
// What has come of a body is not taken for the whole one: the handler learns it, or is not called if PHP reads the body before.
$form = 'application/x-www-form-urlencoded';
foreach (["Content-Length: 7\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "Content-Type: text/x-y\r\nContent-Length: 7\r\n\r\nabc", "Content-Type: text/x-y\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
          "Content-Type: $form\r\nContent-Length: 7\r\n\r\na=1", "Content-Type: $form\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na=1\r\n",
          "Content-Type: multipart/form-data; boundary=XX\r\nContent-Length: 1000\r\n\r\n" . $part('a', '1', 'a')] as $n => $rest) {
    $GLOBALS['cut'] = [];
    $before = $server->stats()['requests'];
    $client = S\connect($server);
    fwrite($client, ($n < 2 ? 'PUT' : 'POST') . " /?what=cut HTTP/1.1\r\nHost: test\r\n$rest");
    T\until(fn() => $n < 2 ? $GLOBALS['cut'] !== [] : $server->stats()['running'] === 1);
    $n % 2 === 0 ? stream_socket_shutdown($client, STREAM_SHUT_WR) : fclose($client);
    T\until(fn() => $server->stats()['requests'] > $before && $server->stats()['running'] === 0);
    echo implode(', ', $GLOBALS['cut']) ?: 'not called', "\n";
}
$server->stop();
echo count(array_filter($paths)), ' uploads, ', count(array_filter($paths, fn($path) => $path !== '' && file_exists($path))), " left\n";
echo str_replace('Async\Http\request(): Maximum', 'Maximum', S\reports($log)), "\n";
?>
--EXPECTF--
200 [{"a":{"b":["1","2"]},"c_d":"3","x":"2"},{"what":"form","x":"2","a":{"b":["1","2"]},"c_d":"3"},"a[b][]=1&a[b][]=2&c.d=3&x=2","a[b][]=1&a[b][]=2&c.d=3&x=2"]
200 {"js|on": true}|[]
200 resource (closed)
200 put |it|[]
200 a: n1.txt text/x-y 100 error 0 MD5
big: big  0 error 1 -
bool(true)
bool(true)
200 a: n2.txt text/x-y 200 error 0 MD5
big: big  0 error 1 -
bool(true)
bool(true)
200 a: n3.txt text/x-y 300 error 0 MD5
big: big  0 error 1 -
bool(true)
bool(true)
200 a: n4.txt text/x-y 400 error 0 MD5
big: big  0 error 1 -
bool(true)
bool(true)
200 a: n5.txt text/x-y 500 error 0 MD5
big: big  0 error 1 -
bool(true)
bool(true)
200 a: a text/x-y 1 error 0 c4ca4238a0b923820dcc509a6f75849b
b: b text/x-y 1 error 0 c81e728d9d4c2f636f067f89cc14862c
c: c text/x-y 1 error 0 eccbc87e4b5ce2fe28308fd9f2a7baf3

200 ["POST",[],[],null,null]
200 ["POST",[],[],"me","secret"]
200 ["GET",[],[],null,null]
200 [{"a":"1","b":"2"},{"what":"form","a":"1","b":"2"},"a=1&b=2","a=1&b=2"]
called, The body of the request is incomplete
called, The body of the request is incomplete
not called
not called
not called
not called
not called
8 uploads, 0 left
Warning:  %SMaximum number of allowable file uploads has been exceeded
Warning:  PHP Request Startup: POST Content-Length of 12000 bytes exceeds the limit of 8000 bytes
