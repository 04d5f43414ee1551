<?php
// needs: ext:pcntl
// Child processes.
namespace Matrix;

function sleep_command(): string
{
    return 'sleep ' . seconds();
}

matrix('shell_exec', fn(int $i) => \shell_exec(sleep_command() . "; echo shell $i"));

matrix('exec', function (int $i): array {
    $last = \exec(sleep_command() . "; echo one; echo two $i; exit " . $i, $lines, $status);
    return [$last, $lines, $status];
});

matrix('system and passthru', function (int $i): array {
    \ob_start();
    $last = \system("echo system $i; " . \sprintf('sleep %s', seconds(250)), $first);
    $middle = \ob_get_clean();
    \ob_start();
    \passthru(\sprintf('sleep %s; printf "pass\\000through %d"; exit 3', seconds(250), $i), $second);
    return [$last, $first, $middle, \ob_get_clean(), $second];
});

matrix('popen to read', function (int $i): array {
    $pipe = \popen("echo first $i; " . sleep_command() . '; echo last; exit 5', 'r');
    return [\fgets($pipe), \stream_get_contents($pipe), \pclose($pipe)];
});

matrix('popen to write', function (int $i): array {
    $pipe = \popen('cat > ' . \escapeshellarg($file = scratch('popen')) . '; ' . sleep_command() . '; exit 6', 'w');
    $sent = \fwrite($pipe, "written $i\n");
    return [$sent, \pclose($pipe), \file_get_contents($file)];
});

matrix('proc_open, pipes both ways', function (int $i): array {
    $process = \proc_open(['sh', '-c', 'while read line; do ' . sleep_command() . '; echo "answer to $line"; echo noise >&2; done; exit 7'],
        [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']], $pipes);
    \fwrite($pipes[0], "question $i\n");
    $answer = \fgets($pipes[1]);
    \fclose($pipes[0]);
    $rest = [\stream_get_contents($pipes[1]), \stream_get_contents($pipes[2])];
    return [$answer, $rest, \proc_close($process)];
});

matrix('proc_close waits', function (int $i): int {
    $process = \proc_open('exec sh -c "' . sleep_command() . "; exit $i\"", [], $pipes);
    return \proc_close($process);
});

matrix('proc_get_status and proc_terminate', function (int $i): array {
    $process = \proc_open(['sleep', '20'], [], $pipes);
    \usleep(ms() * 1000);
    $running = \proc_get_status($process)['running'];
    \proc_terminate($process, SIGKILL);
    while (($status = \proc_get_status($process))['running']) {
        \usleep(1000);
    }
    return [$running, $status['signaled'], $status['termsig'], \proc_close($process)];
});

matrix('a big output', function (int $i): array {
    $output = \shell_exec("head -c 3000000 /dev/zero | tr '\\0' '" . \chr(97 + $i) . "'; " . sleep_command());
    return [\strlen($output), \md5($output)];
}, n: 8);

matrix('through a filter: cat', function (int $i): string {
    $process = \proc_open('sleep 0.1; cat', [['pipe', 'r'], ['pipe', 'w']], $pipes);
    $writer = beside(function () use ($pipes, $i): void {
        \fwrite($pipes[0], \str_repeat("line of $i\n", 50_000));
        \fclose($pipes[0]);
    });
    is_async() or \fclose($pipes[0]);
    $hash = \md5(\stream_get_contents($pipes[1]));
    $writer();
    \proc_close($process);
    return $hash;
}, n: 6, evidence: 'switch');

matrix('a file as descriptor', function (int $i): array {
    $process = \proc_open(['sh', '-c', sleep_command() . "; echo to a file $i"], [1 => ['file', $file = scratch('out'), 'w'], 2 => ['redirect', 1]], $pipes);
    return [\proc_close($process), \file_get_contents($file)];
}, n: 10);
