--TEST--
Async\Http: the body of a request is read as it comes, up to a limit; forms and uploaded files
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{PayloadTooLarge, Request, Response};
use function Async\{spawn, suspend};

$pieces = [];
$server = S\serve(function(Request $r) use (&$pieces) {
    switch ($r->path()) {
        case '/pieces':
            while (($piece = $r->read(4)) !== null) $pieces[] = $piece;
            return implode('|', $pieces) . json_encode($r->trailers());
        case '/caught':
            try { return $r->body(); } catch (PayloadTooLarge $e) { return $e::class; }
        case '/form':
            $files = [];
            $list = $r->files();
            array_walk_recursive($list, function($file, $key) use (&$files) {
                $files[] = [$key, $file->name(), $file->type(), $file->size(), $file->error(), $file->path() === null ? null : file_get_contents($file->path())];
            });
            return Response::json([$r->form(), $files, $r->form('a')], flags: JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        case '/move':
            $file = $r->files()['f'];
            $from = $file->path();
            $file->moveTo('moved');
            return json_encode([file_get_contents('moved'), file_exists($from), $file->path(), S\refused(fn() => $file->moveTo('again'))]);
        case '/path':
            return $r->files()['f']->path();
        default:
            return $r->body();
    }
}, ['max_body_size' => 5000]);
T\work_in();

// Written only when the handler has read what came before.
$client = S\connect($server);
fwrite($client, "POST /pieces HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n");
T\until(fn() => $GLOBALS['pieces'] === ['abcd', 'ef']);
fwrite($client, "3\r\nghi\r\n0\r\nX-After: 1\r\n\r\n");
echo S\body(stream_get_contents($client)), "\n";

echo S\status(S\send($server, S\request('POST', '/', str_repeat('a', 5000)))), "\n";
echo S\status(S\send($server, S\request('POST', '/', str_repeat('a', 5001)))), "\n";
$chunk = dechex(3000) . "\r\n" . str_repeat('a', 3000) . "\r\n";
$chunked = "HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n$chunk{$chunk}0\r\n\r\n";
echo S\status(S\send($server, "POST / $chunked")), "\n";
echo S\body(S\send($server, "POST /caught $chunked")), "\n";

$urlencoded = "Content-Type: application/x-www-form-urlencoded\r\n";
echo S\body(S\send($server, S\request('POST', '/form', 'a[b]=1&a[]=2&c=%20+', $urlencoded))), "\n";
echo S\body(S\send($server, S\request('POST', '/form', '{"a":1}', "Content-Type: application/json\r\n"))), "\n";

$multipart = "Content-Type: multipart/form-data; boundary=XX\r\n";
$part = fn(string $name, string $data, ?string $file = null, string $type = '') => "--XX\r\nContent-Disposition: form-data; name=\"$name\""
    . ($file === null ? '' : "; filename=\"$file\"") . "\r\n" . ($type === '' ? '' : "Content-Type: $type\r\n") . "\r\n$data\r\n";
$form = $part('a[x]', '1 & 2') . $part('a[y][]', 'ü') . $part('f', "data\r\nmore", 'C:\\dir\\f.txt', 'text/plain') . $part('g[]', '', '') . $part('g[k]', 'z', 'z') . "--XX--\r\n";
echo S\body(S\send($server, S\request('POST', '/form', $form, $multipart))), "\n";
echo S\body(S\send($server, S\request('POST', '/move', $part('f', 'data', 'f') . "--XX--\r\n", $multipart))), "\n";
$path = S\body(S\send($server, S\request('POST', '/path', $part('f', 'data', 'f') . "--XX--\r\n", $multipart)));
T\until(fn() => !file_exists($path));
echo strlen($path) > 5 ? "removed with its request\n" : "no path\n";
foreach (['--YY', $part('f', 'data'), "--XX\r\nbroken"] as $broken) {
    echo S\status(S\send($server, S\request('POST', '/form', $broken, $multipart))), "\n";
}
$server->stop();
?>
--EXPECT--
abcd|ef|ghi{"x-after":["1"]}
200
413
413
Async\Http\PayloadTooLarge
[{"a":{"b":"1","0":"2"},"c":"  "},[],{"b":"1","0":"2"}]
[[],[],null]
[{"a":{"x":"1 & 2","y":["ü"]}},[["f","f.txt","text/plain",10,0,"data\r\nmore"],[0,"","",0,4,null],["k","z","",1,0,"z"]],{"x":"1 & 2","y":["ü"]}]
["data",false,null,"Async\\Http\\ServerException: There is no uploaded file, or it was moved already"]
removed with its request
400
400
400
