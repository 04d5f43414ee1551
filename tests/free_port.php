<?php

/**
 * Returns a port of 127.0.0.1 that nobody listens at. It is below those that the kernel hands out by itself, so no client's
 * connection takes it before the server is there; and no program is told the same port twice.
 */
function free_port(): int
{
    static $next;
    for ($next ??= random_int(10_000, 19_000);; $next++) {
        if (@stream_socket_server("tcp://127.0.0.1:$next")) {
            return $next++;
        }
    }
}
