--TEST--
What an exit abandons in one request does not reach the next: descriptors are closed, queues are empty
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
T\work_in(['page.php' => <<<'PAGE'
    <?php
    use function Embedding\{channel, listen, port, receive, requests, send, serve, shared_receive, shared_send};
    $sockets = preg_grep('/^socket:/', array_map(fn ($file) => @readlink($file) ?: '', glob('/proc/self/fd/*')));
    $address = 'tcp://127.0.0.1:' . port($listener = listen());
    $server = serve($listener, fn ($line) => $line);
    $client = stream_socket_client($address);
    fwrite($client, "served\n");
    echo rtrim(fgets($client)), ', ', count($sockets), ' sockets before, request ', requests();
    $server->cancel();
    $other = serve($listener = listen(), fn ($line) => $line);
    // In the place of the one that an odd request abandons in the queue, an even one has another.
    $first = requests() % 2 === 1 ? Async\spawn(shared_receive(...)) : Async\spawn(Async\delay(...), 1_000_000);
    Async\suspend();
    if (requests() % 2 === 0) {
        $waits = Async\spawn(shared_receive(...));
        Async\suspend();
        shared_send(requests());
        echo ', ', Async\await($waits), "\n";
    } else {
        echo "\n";
    }
    exit;
    PAGE]);

$server = new T\BuiltInServer();
$pages = array_map(fn () => $server->get('page.php'), range(1, 4));
$counts = array_map(fn ($page) => preg_replace('/.*, (\d+) sockets.*/s', '$1', $page), $pages);
echo preg_replace('/\d+ sockets/', 'as many sockets', implode($pages));
echo count(array_unique($counts)) === 1 ? 'the same each time' : json_encode($counts), "\n";
$server->end();
--EXPECT--
served, as many sockets before, request 1
served, as many sockets before, request 2, 2
served, as many sockets before, request 3
served, as many sockets before, request 4, 4
the same each time
