<?php
/*
 * The end of a server.
 */

declare(strict_types=1);

namespace ServerTests;

$cases['SIGTERM drains'] = $cases['TLS: SIGTERM drains'] = function (App $app) {
    $slow = popen("curl -s -k $app->url/slow", 'r');
    until(fn() => $app->stats()['running'] === 2);
    $app->signal();
    same('slow', stream_get_contents($slow));
    until(fn() => @stream_socket_client("tcp://$app->address") === false);
    same(1, preg_match('/^stopped, (\d+) have begun, \1 have ended$/', $app->rest()));
};
