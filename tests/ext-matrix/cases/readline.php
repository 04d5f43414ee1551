<?php
// needs: stdin ext:readline
// readline() on a pipe that is written slowly.
namespace Matrix;

require __DIR__ . '/../lib.php';

scenario('five lines', function (): array {
    reads_stdin();
    $lines = [];
    for ($n = 0; $n < 5; $n++) {
        \readline_add_history($lines[] = \readline());
    }
    return [$lines, \readline(), \readline_info('line_buffer') !== null];
}, waits: 50);
