--TEST--
Output in worker mode: nested buffers across suspensions, callbacks that suspend, children, streaming, what is printed too late
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await, delay};

$late = new Async\Channel(1);
$server = S\worker(function () use ($late) {
    $n = $_GET['n'];
    switch ($_GET['how']) {
        case 'nested':
            ob_start(function ($text) { usleep(500); return strtoupper($text); });
            echo "a$n";
            ob_start(fn($text) => "($text)");
            usleep(1000);
            echo "b$n";
            echo ob_get_level();
            ob_end_flush();
            usleep(1000);
            ob_end_flush();
            ob_start();
            echo 'dropped';
            usleep(500);
            ob_end_clean();
            ob_start(); // left open
            echo "left$n";
            break;
        case 'children':
            echo "p$n ";
            $child = fn($c, $before) => spawn(function () use ($n, $c, $before) {
                ob_start();
                echo "c$c:";
                usleep(1000);
                echo "$n ";
                $before && await($before);
                ob_end_flush();
            });
            await($child(2, $child(1, null)));
            echo 'end';
            break;
        case 'clean':
            echo 'dropped';
            while (ob_get_level()) {
                ob_end_clean();
            }
            usleep(1000);
            echo "n$n";
            header('X-Late: yes'); // the output has begun
            break;
        case 'large':
            for ($i = 0; $i < 1000; $i++) {
                echo str_repeat($n, 1000);
                if ($i % 100 === 0) {
                    usleep(100);
                }
            }
            break;
        case 'late':
            spawn(function () use ($late, $n) {
                delay(20);
                echo 'too late';
                header('X: y');
                $late->send([$_GET['n'], $n, headers_sent(), isset($_SERVER['REQUEST_URI'])]);
            });
            echo 'early';
            break;
        case 'headers':
            for ($i = 0; $i < 40_000; $i++) {
                header("X-$i: $n", false);
            }
            break;
        case 'refuses': // a handler that returns false is passed by from then on
            ob_start(fn() => false);
            echo "a$n ";
            ob_flush();
            usleep(1000);
            echo "b$n ", ob_get_status()['level'];
            break;
        case 'status':
            header('Status: 418 Teapot');
            echo 'tea';
            break;
        case 'print_r':
            echo print_r([1, [$n]], true), var_export($n, true), sprintf('%s', $n);
            printf('%03d', $n);
            file_put_contents('php://output', " out$n");
            break;
    }
});
set_error_handler(fn($no, $text) => print("[$text]"));
foreach (['nested', 'children', 'clean', 'print_r', 'refuses'] as $how) {
    $clients = array_map(fn($n) => spawn(fn() => preg_replace('/\s+/', ' ', S\answer($server, "/?how=$how&n=$n"))), range(1, 4));
    foreach ($clients as $client) {
        echo "$how ", await($client), "\n";
    }
}
$clients = array_map(fn($n) => spawn(fn() => S\get($server, "/?how=large&n=$n")), range(1, 4));
foreach ($clients as $n => $client) {
    var_dump(await($client) === str_repeat($n + 1, 1000000));
}
echo S\answer($server, '/?how=late&n=7'), "\n";
echo json_encode($late->recv()), "\n";
echo S\answer($server, '/?how=headers&n=1'), "\n";
$answer = S\send($server, S\request('GET', '/?how=status&n=1'));
echo S\status($answer), ' ', json_encode(stripos($answer, 'status:')), "\n";
$server->stop();
?>
--EXPECTF--
nested 200 A1(B13)left1
nested 200 A2(B23)left2
nested 200 A3(B33)left3
nested 200 A4(B43)left4
children 200 p1 c1:1 c2:1 end
children 200 p2 c1:2 c2:2 end
children 200 p3 c1:3 c2:3 end
children 200 p4 c1:4 c2:4 end
clean 200 n1 Warning: Cannot modify header information - headers already sent by (output started at %s:%d) in %s on line %d
clean 200 n2 Warning: Cannot modify header information - headers already sent by (output started at %s:%d) in %s on line %d
clean 200 n3 Warning: Cannot modify header information - headers already sent by (output started at %s:%d) in %s on line %d
clean 200 n4 Warning: Cannot modify header information - headers already sent by (output started at %s:%d) in %s on line %d
print_r 200 Array ( [0] => 1 [1] => Array ( [0] => 1 ) ) '1'1001 out1
print_r 200 Array ( [0] => 1 [1] => Array ( [0] => 2 ) ) '2'2002 out2
print_r 200 Array ( [0] => 1 [1] => Array ( [0] => 3 ) ) '3'3003 out3
print_r 200 Array ( [0] => 1 [1] => Array ( [0] => 4 ) ) '4'4004 out4
refuses 200 a1 b1 1
refuses 200 a2 b2 1
refuses 200 a3 b3 1
refuses 200 a4 b4 1
bool(true)
bool(true)
bool(true)
bool(true)
200 early
["7","7",true,true]
200 Warning: There are too many headers: the last ones were not sent in %s on line %d
418 false
