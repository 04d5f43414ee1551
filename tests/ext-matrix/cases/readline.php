<?php
// needs: ext:readline
// stdin: 5
// readline() on a pipe that is written slowly.
namespace Matrix;

scenario('five lines', function (): array {
    $lines = [];
    for ($n = 0; $n < 5; $n++) {
        \readline_add_history($lines[] = \readline());
    }
    return [$lines, \readline(), \readline_info('line_buffer') !== null];
}, waits: 50);
