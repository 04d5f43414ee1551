<?php
// stdin: 5
// Standard input from a pipe that is written slowly.
namespace Matrix;

scenario('five lines', function (): array {
    $lines = [\fgets(STDIN)];
    $lines[] = \stream_get_line(STDIN, 100, "\n");
    $lines[] = \fgets(STDIN);
    $read = [STDIN];
    $write = $except = null;
    $lines[] = \stream_select($read, $write, $except, 5);
    $lines[] = \stream_get_contents(STDIN);
    return [$lines, \feof(STDIN)];
}, waits: 50);
