--TEST--
H2 a handle freed in every way while another coroutine is parked in it: no use after free, whatever is allocated next
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
set_error_handler(fn() => true);

$ends = [
    'fclose' => function(&$s) { fclose($s); },
    'unset' => function(&$s) { $s = null; },
    'overwritten' => function(&$s) { $s = T\pair()[0]; },
    'closed twice' => function(&$s) { fclose($s); try { fclose($s); } catch (TypeError) {} },
    'stream_set_blocking, then closed' => function(&$s) { stream_set_blocking($s, false); fclose($s); },
    'filter appended, then closed' => function(&$s) { stream_filter_append($s, 'string.rot13'); fclose($s); },
    'stream_copy, then closed' => function(&$s) { fclose($s); },
];
$round = function(string $name, Closure $end): void {
    [$s, $other] = T\pair();
    $blocked = [
        spawn(function() use (&$s) { $mine = $s; return fread($mine, 5000); }),
        spawn(function() use (&$s) { return stream_get_line($s, 1000, "\n"); }),
    ];
    suspend();
    Async\delay(1);
    $closing = spawn(function() use ($end, &$s) { $end($s); });
    suspend();
    // memory that was freed is handed out again
    $fill = [];
    for ($k = 0; $k < 50; $k++) {
        $fill[] = str_repeat(chr(65 + $k % 26), 8192);
        $fill[] = fopen('php://memory', 'w+');
    }
    @fwrite($other, "late data\nmore\n");
    fclose($other);
    foreach ($blocked as $b) {
        try {
            $r = Async\await($b, Async\timeout(60_000));
            if (is_string($r) && !in_array($r, ['', "late data\nmore\n", "late data\n", 'late data', 'more', "more\n"], true)) echo "$name: strange data ", strlen($r), "\n";
        } catch (Async\AwaitCancelledException) {
            echo "$name: still blocked\n";
            $b->cancel();
        } catch (TypeError) {
        }
    }
    T\failure($closing);
};
foreach ($ends as $name => $end) {
    for ($i = 0; $i < 10; $i++) $round($name, $end);
    echo "$name: survived\n";
}
?>
--EXPECT--
fclose: survived
unset: survived
overwritten: survived
closed twice: survived
stream_set_blocking, then closed: survived
filter appended, then closed: survived
stream_copy, then closed: survived
