<?php
// needs: redis ext:redis
// stock hangs: EINTR ENOMEM
namespace Matrix;

return ['work' => function (int $copy): array {
    $redis = new \Redis;
    must($redis->connect(env('SPINDLE_REDIS_HOST'), (int) env('SPINDLE_REDIS_PORT'), 2, null, 0, 2), 'connect');
    $key = unique('faults');
    must($redis->set($key, \str_repeat("value $copy ", 5000), ['ex' => 60]), 'set');
    $value = must($redis->get($key), 'get');
    $many = $redis->pipeline()->incr("$key:n")->incr("$key:n")->expire("$key:n", 60)->exec();
    $popped = $redis->rawCommand('BLPOP', "$key:none", '0.02');
    return [\md5($value), must($many, 'exec'), $popped, must($redis->del($key, "$key:n"), 'del')];
}];
