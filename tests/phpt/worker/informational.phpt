--TEST--
Worker mode: 100 Continue is sent when the body is received; what is said to be another informational response is the response
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';

$log = S\log_file();
$server = S\worker(function () {
    switch (strtok($_SERVER['REQUEST_URI'], '?')) {
        case '/body': echo strrev(file_get_contents('php://input')); return;
        case '/line': header('HTTP/1.1 103 Early Hints'); header('Link: </a.css>; rel=preload'); break;
        case '/code': http_response_code(103); header('Link: </a.css>; rel=preload'); break;
        case '/status': header('Status: 103 Early Hints'); header('Link: </a.css>; rel=preload'); break;
        case '/flush': http_response_code(103); header('Link: </a.css>; rel=preload'); flush(); http_response_code(404); break;
        case '/later': http_response_code(103); header('Link: </a.css>; rel=preload'); http_response_code(404); break;
        case '/switch': http_response_code(101); header('Upgrade: x'); break;
    }
    echo 'page';
});

$client = S\connect($server);
fwrite($client, "POST /body HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
echo trim(fgets($client)), ' ', bin2hex(fgets($client)), "\n";
fwrite($client, 'abcde' . S\request('GET', '/'));
echo implode(' ', preg_grep('/^HTTP|^edcba|^page$/', preg_split('/\R|(?<=edcba)/', stream_get_contents($client)))), "\n";

foreach (['line', 'code', 'status', 'flush', 'later', 'switch', 'page'] as $what) {
    $answer = S\send($server, S\request('GET', "/$what"));
    echo "$what: ", S\status($answer), ' ', trim(S\body($answer)), preg_match('/^link: .*preload/mi', $answer) ? ' with link' : '', ' ', S\reports($log), "\n";
}
$client = S\connect($server);
fwrite($client, "GET /code HTTP/1.1\r\nHost: test\r\n\r\n" . S\request('GET', '/'));
echo implode(' ', preg_grep('/^HTTP|^page/', preg_split('/\R|(?<=page)/', stream_get_contents($client)))), "\n";
$server->stop();
?>
--EXPECT--
HTTP/1.1 100 Continue 0d0a
HTTP/1.1 200 OK edcba HTTP/1.1 200 OK page
line: 200 page with link Warning:  Informational responses (103) cannot be sent: 200 was sent
code: 200 page with link Warning:  Informational responses (103) cannot be sent: 200 was sent
status: 200 page with link Warning:  Informational responses (103) cannot be sent: 200 was sent
flush: 404 page with link 
later: 404 page with link 
switch: 500 page Warning:  101 is not the status of a response: 500 was sent
page: 200 page 
HTTP/1.1 200 OK page HTTP/1.1 200 OK page
