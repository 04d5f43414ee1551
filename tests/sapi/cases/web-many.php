<?php
/** Many requests to web servers that have PHP inside. */

namespace Sapi;

$many = function(Web $server, callable $worker) {
    $script = script('web', <<<'PHP'
        $c = Async\spawn(function() { Async\delay(0); return gethostbyname('localhost'); });
        Async\spawn(fn() => Async\delay(1));
        echo Async\await($c);
        PHP);
    for ($i = 0; $i < 20; $i++) {
        same('127.0.0.1', $server->get($script));
    }
    $before = figures($worker());
    for ($i = 0; $i < 300; $i++) {
        same('127.0.0.1', $server->get($script), "request $i");
    }
    return check_flat($before, $worker(), descriptors: 2); // connections of clients
};
test('cli-server many requests', function() use ($many) {
    $server = new Server(['-d', 'extension=' . EXTENSION]);
    return $many($server, $server->pid(...));
});
test('apache2handler many requests', function() use ($many) {
    $server = new Apache([]);
    return $many($server, $server->worker(...));
});
