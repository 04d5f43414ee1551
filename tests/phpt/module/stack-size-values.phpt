--TEST--
async.stack_size: good values, and bad ones that are refused or set right with a message, never a crash
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = 'function deep($n) { return $n ? array_sum(array_map("deep", [$n - 1])) + 1 : (Async\suspend() ?? 0); }
    $jobs = [];
    for ($i = 0; $i < 10; $i++) $jobs[] = Async\spawn("deep", 20);
    echo array_sum(array_map("Async\await", $jobs)), "\n";';
foreach (['0', '128K', '512K', '1M', '262144', '300001', '64M'] as $size) {
    $ended = T\php($code, '-d async.stack_size=' . escapeshellarg($size));
    echo "$size: $ended";
}
foreach (['-1', '1', '4096', '""', 'many', '99999999999999999999', '1T', '9223372036854775807'] as $size) {
    $ended = T\php($code, '-d async.stack_size=' . $size);
    // it works with some other size, or says what is wrong; a signal is neither
    $says = str_contains($ended->output, 'stack_size');
    T\check($size, $ended->status < 128 && ($ended->has("200\n") || $says) || $ended->status === 255 && $says, $ended);
}
?>
--EXPECT--
0: [0] 200
128K: [0] 200
512K: [0] 200
1M: [0] 200
262144: [0] 200
300001: [0] 200
64M: [0] 200
-1: yes
1: yes
4096: yes
"": yes
many: yes
99999999999999999999: yes
1T: yes
9223372036854775807: yes
