<?php
namespace Matrix;

return ['work' => function (int $copy): array {
    $data = \str_repeat("data $copy ", 3000);
    $process = must(\proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes), 'proc_open');
    try {
        write_all($pipes[0], $data);
        \fclose($pipes[0]);
        $echoed = read_all($pipes[1], 100_000);
    } finally {
        $status = \proc_close($process); // PHP waits for no process that is only dropped
    }
    $status === 0 or throw new Told("proc_close gave $status");
    $lines = [];
    must(\exec("printf 'a\\nb\\n$copy\\n'; exit 3", $lines, $code), 'exec');
    $code === 3 or throw new Told("exec ended with $code");
    $pipe = must(\popen('echo popen', 'r'), 'popen');
    $popped = read_all($pipe, 100);
    $status = \pclose($pipe);
    $status === 0 or throw new Told("pclose gave $status");
    return [\md5($echoed), $lines, must(\shell_exec('echo shell'), 'shell_exec'), $popped];
}];
