<?php
namespace Matrix;

return ['copies' => 20, 'work' => function (int $copy): bool {
    $start = \hrtime(true);
    \usleep(3000);
    must(\time_nanosleep(0, 2_000_000) === true, 'time_nanosleep');
    return \hrtime(true) - $start >= 5_000_000;
}];
