--TEST--
H4 cancelled writes and reads leave reused descriptors, freed buffers and other files alone
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in(['source' => str_repeat('s', 200_000)]);
posix_mkfifo('fifo', 0600);
set_error_handler(fn() => true);

mt_srand(11);
$strange = [];
for ($round = 0; $round < 30; $round++) {
    $jobs = [];
    for ($i = 0; $i < 8; $i++) {
        $jobs[] = spawn(function() use ($round, $i) {
            $f = fopen("victim$i", 'w');
            for ($k = 0; $k < 5; $k++) fwrite($f, str_repeat(chr(97 + $i), 50_000));
            fsync($f);
        });
        $jobs[] = spawn(function() { $s = fopen('source', 'r'); while (fread($s, 60_000)); });
    }
    for ($i = mt_rand(0, 5); $i > 0; $i--) suspend();
    if (mt_rand(0, 2) === 0) delay(1);
    foreach ($jobs as $job) $job->cancel();
    // the numbers of the closed descriptors come back at once, for files that must stay as written
    foreach ($jobs as $job) T\failure($job);
    $fresh = [];
    for ($i = 0; $i < 8; $i++) {
        $fresh[$i] = fopen("fresh$i", 'w+');
        fwrite($fresh[$i], "fresh $i");
    }
    $blocks = [];
    for ($i = 0; $i < 20; $i++) $blocks[$i] = str_repeat(chr(65 + $i), 60_000);
    delay(2);
    foreach ($fresh as $i => $f) {
        if (file_get_contents("fresh$i") !== "fresh $i") $strange["fresh$i"] = filesize("fresh$i");
        fclose($f);
    }
    foreach ($blocks as $i => $block) if (trim($block, chr(65 + $i)) !== '') $strange['memory'] = true;
    for ($i = 0; $i < 8; $i++) {
        if (is_file("victim$i") && trim(file_get_contents("victim$i"), chr(97 + $i)) !== '') $strange["victim$i"] = true;
    }
}
T\check('nothing strange', $strange === [], $strange);

// a write that waits for its reader, cancelled: the bytes do not come later
$writer = spawn(fn() => file_put_contents('fifo', 'LATE BYTES'));
T\parked($writer);
$writer->cancel();
T\failure($writer);
$end = fopen('fifo', 'r+'); // opens at once, as both ends
T\turns(30);
spawn(fn() => file_put_contents('fifo', "good bytes\n"));
echo Async\await(spawn(fn() => fgets($end)));
?>
--EXPECT--
nothing strange: yes
good bytes
