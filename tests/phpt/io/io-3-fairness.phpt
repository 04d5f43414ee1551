--TEST--
IO-3 who always finds data still lets others run: sockets, accepts, files, devices, sends
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';
T\work_in(['file' => str_repeat("line of text\n", 20)]);

[$a, $b] = T\pair();
[$c, $d] = T\listener();
$zero = fopen('/dev/zero', 'r');
$null = fopen('/dev/null', 'w');
stream_set_write_buffer($null, 0);
$busy = [
    'socket' => function() use ($a, $b) { fwrite($b, 'x'); fread($a, 1); },
    'accept' => function() use ($c, $d) { $s = stream_socket_client($d); fclose(stream_socket_accept($c, 600)); },
    'udp' => function() { static $s; $s ??= T\listener('udp')[0]; stream_socket_sendto($s, 'x', 0, stream_socket_get_name($s, false)); stream_socket_recvfrom($s, 10); },
    'zero' => fn() => fread($zero, 8192),
    'null' => fn() => fwrite($null, 'x'),
    'file' => fn() => file_get_contents('file'),
    'lines' => fn() => file('file'),
    'select' => function() use ($a) { $r = null; $w = [$a]; $x = null; stream_select($r, $w, $x, 600); },
];
foreach ($busy as $name => $step) {
    $turns = 0;
    $stop = false;
    $others = [];
    for ($i = 0; $i < 3; $i++) {
        $others[] = spawn(function() use (&$turns, &$stop) { while (!$stop) { $turns++; Async\suspend(); } });
    }
    $steps = 0;
    $worker = spawn(function() use ($step, &$steps, &$turns, &$stop) {
        $end = hrtime(true) + 60_000_000_000;
        while ($turns < 30 && hrtime(true) < $end) {
            $step();
            $steps++;
        }
        $stop = true;
    });
    Async\await($worker);
    T\all($others);
    T\check($name, $turns >= 30 && $steps > 0, "$turns turns in $steps steps");
}
?>
--EXPECT--
socket: yes
accept: yes
udp: yes
zero: yes
null: yes
file: yes
lines: yes
select: yes
