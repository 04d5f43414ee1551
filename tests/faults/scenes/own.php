<?php
// What Spindle itself needs: stacks, threads, an event loop, a look at processes.
namespace Matrix;

return ['copies' => 20, 'work' => function (int $copy): array {
    \usleep(1000);
    $process = must(\proc_open(['true'], [], $pipes), 'proc_open');
    $status = \proc_close($process);
    $status === 0 or throw new Told("proc_close gave $status");
    return [\md5(must(\file_get_contents(__FILE__), 'file_get_contents')), \gethostbyname('localhost')];
}];
