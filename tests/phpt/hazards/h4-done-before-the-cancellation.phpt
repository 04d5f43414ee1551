--TEST--
H4 what a job has done when its coroutine is cancelled is the coroutine's, and the cancellation comes after it
--EXTENSIONS--
posix
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in();
posix_mkfifo('one', 0600);
posix_mkfifo('two', 0600);

/** Two opens come to an end, and the first one cancels the other. Was that about to go on? What has it got? */
function round_of(): array
{
    $got = $second = null;
    $first = spawn(function() use (&$second) {
        fopen('one', 'r');
        $about_to_run = $second->isQueued();
        $second->cancel();
        return $about_to_run;
    });
    $second = spawn(function() use (&$got) {
        $got = @fopen('two', 'r');
        suspend();
    });
    T\parked($first, $second);
    foreach (['one', 'two'] as $fifo) {
        // nobody looks for events until a thread has got its end, and has had the time to say so
        $ends[] = fopen($fifo, 'r+');
        while (count(preg_grep("~/$fifo$~", T\descriptors())) < 2);
        for ($end = hrtime(true) + 2_000_000; hrtime(true) < $end; );
    }
    return [await($first), get_class(T\failure($second)), is_resource($got)];
}
for ($i = 0; $i < 100; $i++) {
    [$about_to_run, $failure, $has] = round_of();
    if ($about_to_run) break;
}
echo json_encode([$about_to_run, $failure, $has]), "\n";
?>
--EXPECT--
[true,"Async\\CancellationException",true]
