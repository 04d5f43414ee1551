--TEST--
CORO-13 spawn() in a shutdown function never executes, also when it is the first of all, or after a fatal error
--FILE--
<?php
require __DIR__ . '/kit.inc';

$shutdown = 'register_shutdown_function(function() { echo "shutdown\n"; Async\spawn(fn() => print("NOT REACHED\n")); Async\suspend(); usleep(1000); echo "done\n"; });';
$fatal = 'set_time_limit(1); while (true);'; // a real bailout
foreach (['nothing before' => '', 'a coroutine before' => 'Async\await(Async\spawn(fn() => 1));', 'a parked one' => 'Async\spawn(function() { while (true) usleep(1000); }); Async\delay(5);'] as $name => $before) {
    foreach (['end' => '', 'exit' => 'exit(3);', 'exception' => 'throw new Exception("x");', 'fatal' => $fatal] as $end => $code) {
        if ($name === 'a parked one' && $end === 'end') continue; // the script goes on with it
        $ended = T\php("$shutdown $before $code");
        T\check("$name, $end", $ended->has("shutdown\n") && $ended->has("done\n") && !$ended->has('NOT REACHED') && $ended->status === ['end' => 0, 'exit' => 3, 'exception' => 255, 'fatal' => 255][$end], $ended);
    }
}
?>
--EXPECT--
nothing before, end: yes
nothing before, exit: yes
nothing before, exception: yes
nothing before, fatal: yes
a coroutine before, end: yes
a coroutine before, exit: yes
a coroutine before, exception: yes
a coroutine before, fatal: yes
a parked one, exit: yes
a parked one, exception: yes
a parked one, fatal: yes
