--TEST--
H13 popen() while threads close streams of others that it has opened
--FILE--
<?php
use function Async\{await, spawn};

$jobs = [];
for ($i = 0; $i < 6; $i++) {
    $jobs[] = spawn(function() {
        for ($count = 0; $count < 50; $count++) {
            $process = popen('exit 7', 'r') ?: throw new Exception('popen has failed');
            pclose($process) === 7 || throw new Exception('Another status');
        }
        return $count;
    });
}
echo array_sum(array_map(await(...), $jobs)), "\n";
?>
--EXPECT--
300
