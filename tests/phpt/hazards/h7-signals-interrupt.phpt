--TEST--
H7 an alarm ends the script's sleep with the rest of its time; reads go on or fail as SA_RESTART says; in a coroutine alone too
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

pcntl_async_signals(true);
$seen = 0;
pcntl_signal(SIGUSR1, function() use (&$seen) { $seen++; });
$side = new T\Side('while (($l = fgets(STDIN)) !== false) { do usleep(80_000); while (!preg_match("~^\d+ \(.*\) S ~", file_get_contents("/proc/" . (int) $l . "/stat"))); posix_kill_((int) $l); echo "sent\n"; } function posix_kill_(int $pid) { shell_exec("kill -USR1 $pid"); }');
$signal = function() use ($side) { $side->say((string) getmypid()); };

spawn(function() { while (true) T\turns(5); })->onFinally(fn() => null);

// the script sleeps
$signal();
$start = hrtime(true);
$left = sleep(600);
T\check('sleep in the script', $left >= 400 && $seen === 1 && T\ms($start) < 60_000, [$left, $seen, T\ms($start)]);
$side->hear();

// a blocked read with SA_RESTART goes on after the handler
[$a, $b] = T\pair();
spawn(function() use ($b, &$seen) { T\until(function() use (&$seen) { return $seen === 2; }); T\turns(20); fwrite($b, "the line\n"); });
$signal();
echo fgets($a);
T\check('the handler ran meanwhile', $seen === 2, $seen);
$side->hear();

// without SA_RESTART a select ends early, and says so
pcntl_signal(SIGUSR1, function() use (&$seen) { $seen++; }, false);
$signal();
$r = [$a];
$w = $x = null;
$start = hrtime(true);
$n = @stream_select($r, $w, $x, 600);
T\check('select', $n === false && T\ms($start) < 60_000, [$n, T\ms($start)]);
$side->hear();

// the script waits for a coroutine: the longest blocked call of a coroutine is the interrupted one
$one = spawn(fn() => sleep(600));
T\parked($one);
$two = spawn(fn() => sleep(600));
T\parked($two);
$signal();
$start = hrtime(true);
T\check('sleep in a coroutine', await($one) >= 400 && T\ms($start) < 60_000 && !$two->isCompleted(), T\ms($start));
var_dump($seen);
exit(0);
?>
--EXPECT--
sleep in the script: yes
the line
the handler ran meanwhile: yes
select: yes
sleep in a coroutine: yes
int(4)
