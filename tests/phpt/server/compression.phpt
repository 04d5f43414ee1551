--TEST--
Responses are compressed if the option says so, in both modes, and what PHP compresses itself is left alone
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';

use Async\Http\{Response, Server};

$text = str_repeat("all work and no play\n", 500);
$gzip = "Accept-Encoding: gzip\r\n";

/** What the head of an answer says of its coding, and whether its body is the text. */
function seen(string $answer, string $text): string
{
    preg_match_all('/^(?:content-encoding|vary|etag|content-length): .*$/mi', strstr($answer, "\r\n\r\n", true), $lines);
    $body = S\body($answer);
    return implode(', ', array_map(fn($line) => strtolower(trim($line)), $lines[0])) . ': '
        . (($body === $text) ? 'as it is' : (@gzdecode($body) === $text ? 'compressed' : strlen($body)));
}

$handler = fn() => new Response($text, 200, ['Content-Type' => 'text/plain', 'ETag' => '"1"']);
$server = S\serve($handler);
echo 'off: ', seen(S\send($server, S\request('GET', '/', '', $gzip)), $text), "\n";
$server->stop();

$server = S\serve($handler, ['compression' => true]);
echo 'handler: ', seen(S\send($server, S\request('GET', '/', '', $gzip)), $text), "\n";
echo 'HEAD: ', seen(S\send($server, S\request('HEAD', '/', '', $gzip)), ''), "\n";
echo 'refused: ', seen(S\send($server, S\request('GET', '/', '', "Accept-Encoding: gzip;q=0\r\n")), $text), "\n";
$server->stop();

$server = (new Server(['compression' => true, 'compression_size' => 100]))->listen('127.0.0.1:0')->worker(function () use ($text) {
    match ($_SERVER['PATH_INFO'] ?? $_SERVER['REQUEST_URI']) {
        '/small' => print('small'),
        '/own' => [ob_start('ob_gzhandler'), print($text)],
        '/image' => [header('Content-Type: image/png'), print($text)],
        '/slow' => [print(substr($text, 0, 1000)), ob_flush(), flush(), Async\delay(1), print(substr($text, 1000))],
        default => print($text),
    };
});
Async\spawn($server->run(...));
foreach (['/', '/slow', '/own', '/image'] as $path) {
    echo "worker, $path: ", seen(S\send($server, S\request('GET', $path, '', $gzip)), $text), "\n";
}
echo 'worker, /small: ', seen(S\send($server, S\request('GET', '/small', '', $gzip)), 'small'), "\n";
$server->stop();

foreach ([['compression' => 'gzip'], ['compression_size' => -1]] as $options) {
    try {
        new Server($options);
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
    }
}
?>
--EXPECT--
off: etag: "1", content-length: 10500: as it is
handler: etag: w/"1", vary: accept-encoding, content-encoding: gzip: compressed
HEAD: etag: w/"1", vary: accept-encoding, content-encoding: gzip: as it is
refused: etag: "1", vary: accept-encoding, content-length: 10500: as it is
worker, /: vary: accept-encoding, content-encoding: gzip: compressed
worker, /slow: vary: accept-encoding, content-encoding: gzip: compressed
worker, /own: content-encoding: gzip, vary: accept-encoding, content-length: 84: compressed
worker, /image: content-length: 10500: as it is
worker, /small: content-length: 5: as it is
The option "compression" must be a bool
The option "compression_size" must be an int of at least 0
