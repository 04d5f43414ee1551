<?php
// needs: stdin
// Standard input from a pipe that is written slowly.
namespace Matrix;

require __DIR__ . '/../lib.php';

scenario('five lines', function (): array {
    reads_stdin();
    $lines = [\fgets(STDIN)];
    $lines[] = \stream_get_line(STDIN, 100, "\n");
    $lines[] = \fgets(STDIN);
    $read = [STDIN];
    $write = $except = null;
    $lines[] = \stream_select($read, $write, $except, 5);
    $lines[] = \stream_get_contents(STDIN);
    return [$lines, \feof(STDIN)];
}, waits: 50);
