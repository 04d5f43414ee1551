--TEST--
CANC-4 a plain stream is at its end after a read that was cancelled, as the answer may still come; one whose wait PHP's own limit has ended goes on
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

foreach (['fgets' => fn($s) => fgets($s), 'fgetcsv' => fn($s) => fgetcsv($s)] as $name => $read) {
    [$a, $b] = T\pair();
    fwrite($b, 'a part of');
    $cut = spawn($read, $a);
    T\parked($cut);
    $cut->cancel();
    T\failure($cut);
    fwrite($b, " the answer that comes too late\n");
    echo "$name: ", json_encode([feof($a), $read($a)]), "\n";
}
[$a, $b] = T\pair();
stream_set_timeout($a, 0, 1000);
var_dump(fgets($a));
fwrite($b, "later\n");
echo json_encode([feof($a), fgets($a)]), "\n";
$reads = [$a];
$none = null;
var_dump(stream_select($reads, $none, $none, 0, 1000));
fwrite($b, "later\n");
echo json_encode([feof($a), fgets($a)]), "\n";
?>
--EXPECT--
fgets: [true,false]
fgetcsv: [true,false]
bool(false)
[false,"later\n"]
int(0)
[false,"later\n"]
