<?php
namespace Matrix;

$queue = static function (&$key = null) {
    $queue = \msg_get_queue($key = \random_int(1, PHP_INT_MAX) & 0x7fffffff, 0600);
    $pid = \getmypid();
    \register_shutdown_function(static fn() => \getmypid() === $pid && @\msg_remove_queue($queue));
    return $queue;
};
check('msg_send', static fn($q, int $n) => [\msg_send($q, $n, bags($n)), \msg_receive($q, $n, $type, 10000, $got), $type, $got], $queue, in: ['msg_send', 'msg_receive']);
// A message that another process sends.
check('msg_receive', static function ($q, int $n) {
    $child = \proc_open([PHP_BINARY, '-n', '-d', 'extension=sysvmsg', '-r', 'usleep(50000); msg_send(msg_get_queue((int) $argv[1]), (int) $argv[2], "text");', (string) $q->key, "$n"], [], $pipes);
    $result = [\msg_receive($q->queue, $n, $type, 1000, $got), $got];
    \proc_close($child);
    return $result;
}, static function () use ($queue) { $q = $queue($key); return (object) ['queue' => $q, 'key' => $key]; }, in: 'msg_receive');
