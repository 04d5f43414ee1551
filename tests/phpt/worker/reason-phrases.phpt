--TEST--
Worker mode: the status and its reason phrase are those of the line which code has set last, as with PHP-FPM
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';

$log = S\log_file();
$server = S\worker(fn() => match ($_GET['do']) {
    'line' => header('HTTP/1.1 299 Whatever it is'),
    'known' => header('HTTP/1.0 404 Gone fishing'),
    'later' => [header('HTTP/1.1 299 Whatever'), http_response_code(201)],
    'twice' => [header('HTTP/1.1 299 One'), header('HTTP/1.1 298 Two')],
    'cgi' => header('Status: 418 Short and stout'),
    'number' => header('Status: 410'),
    'unnamed' => http_response_code(299),
    'empty' => header('HTTP/1.1 404'),
    'fails' => [header('HTTP/1.1 299 Fine'), throw new Exception],
    'early' => header('HTTP/1.1 103 Hints'),
    'sent' => [header('HTTP/1.1 299 In pieces'), print 'a', flush(), print 'b'],
});
foreach (['line', 'known', 'later', 'twice', 'cgi', 'number', 'unnamed', 'empty', 'fails', 'early', 'sent'] as $do) {
    echo "$do: ", strstr(S\send($server, S\request('GET', "/?do=$do")), "\r\n", true), "|\n";
}
$server->stop();
?>
--EXPECT--
line: HTTP/1.1 299 Whatever it is|
known: HTTP/1.1 404 Gone fishing|
later: HTTP/1.1 299 Whatever|
twice: HTTP/1.1 298 Two|
cgi: HTTP/1.1 418 Short and stout|
number: HTTP/1.1 410 Gone|
unnamed: HTTP/1.1 299 |
empty: HTTP/1.1 404 Not Found|
fails: HTTP/1.1 500 Internal Server Error|
early: HTTP/1.1 200 OK|
sent: HTTP/1.1 299 In pieces|
