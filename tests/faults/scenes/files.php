<?php
namespace Matrix;

return ['work' => function (int $copy): array {
    $path = scratch("files$copy");
    $data = \str_repeat("data $copy ", 30_000);
    $wrote = must(\file_put_contents($path, $data), 'file_put_contents');
    $file = must(\fopen($path, 'r+'), 'fopen');
    $start = read_all($file, 20_000);
    must(\fseek($file, 100) === 0, 'fseek');
    write_all($file, 'HERE');
    must(\fflush($file), 'fflush');
    must(\fsync($file), 'fsync');
    must(\fdatasync($file), 'fdatasync');
    \fseek($file, -10, SEEK_END);
    $end = read_all($file, 100);
    must(\fclose($file), 'fclose');
    must(\file_put_contents($path, 'more', FILE_APPEND | LOCK_EX), 'append');
    $all = must(\file_get_contents($path), 'file_get_contents');
    must(\copy($path, "$path.copy"), 'copy');
    $copied = must(\file_get_contents("$path.copy"), 'file_get_contents');
    must(\unlink($path) && \unlink("$path.copy"), 'unlink');
    return [$wrote, \md5($start), $end, \strlen($all), \md5($all), $all === $copied];
}];
