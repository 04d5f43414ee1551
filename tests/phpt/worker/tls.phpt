--TEST--
Async\Http: $_SERVER tells in worker mode that a request has come by TLS, or that a trusted proxy says so, and at which port
--EXTENSIONS--
openssl
--FILE--
<?php
require __DIR__ . '/worker.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/tls.inc';

use Async\Http\{Server, Tls};

T\work_in();
L\certificate('one', 'one.example');
$server = (new Server(['trusted_proxies' => ['127.0.0.1']]))->listen('127.0.0.1:0')->worker(function() {
    foreach (['HTTPS', 'REQUEST_SCHEME', 'SERVER_PORT', 'SERVER_NAME', 'SERVER_ADDR'] as $name) echo $_SERVER[$name] ?? 'none', ' ';
});
$plain = (int) explode(':', $server->address())[1];
$probe = stream_socket_server('tcp://127.0.0.1:0');
[, $secure] = explode(':', stream_socket_get_name($probe, false));
fclose($probe);
$server->listen("127.0.0.1:$secure", new Tls('one.pem', 'one.key'));
Async\spawn($server->run(...));
$show = fn(string $answer) => str_replace([$plain, $secure], ['PLAIN', 'SECURE'], S\body($answer)) . "\n";
$ask = fn(string $headers) => L\send(stream_socket_client("tls://127.0.0.1:$secure", context: L\context('one.pem', 'one.example')), S\request('GET', '/', '', $headers));

echo $show(S\send($server, S\request('GET', '/')));
echo $show($ask(''));
echo $show(S\send($server, S\request('GET', '/', '', "X-Forwarded-Proto: https\r\n")));
echo $show($ask("X-Forwarded-Proto: http\r\n"));
$server->stop();
?>
--EXPECT--
none http PLAIN test 127.0.0.1 
on https SECURE test 127.0.0.1 
on https PLAIN test 127.0.0.1 
none http SECURE test 127.0.0.1 
