<?php
namespace Matrix;

$path = scratch('flock');
\file_put_contents($path, '0');

return [
    'copies' => 4,
    'work' => function (int $copy) use ($path): bool {
        $file = must(\fopen($path, 'r+'), 'fopen');
        must(\flock($file, LOCK_EX), 'flock');
        $count = (int) read_all($file, 10);
        \usleep(300);
        \rewind($file);
        write_all($file, (string) ($count + 1));
        must(\fflush($file), 'fflush');
        must(\flock($file, LOCK_UN), 'flock');
        return true;
    },
    'after' => fn() => \file_get_contents($path),
];
