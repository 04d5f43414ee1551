--TEST--
H6 sorts that begin and end in the middle of others', and objects that are serialized while another one waits in __serialize()
--INI--
error_reporting=24575
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$long = function(int $sign) {
    $a = range(1, 40);
    shuffle($a);
    usort($a, function($x, $y) use ($sign) { suspend(); return $sign * ($x <=> $y); });
    return $a === ($sign > 0 ? range(1, 40) : range(40, 1));
};
$short = function() {
    for ($i = 0; $i < 20; $i++) {
        $a = ['bb', 'a', 'ccc'];
        usort($a, function($x, $y) { suspend(); return strlen($y) <=> strlen($x); });
        if ($a !== ['ccc', 'bb', 'a']) return false;
    }
    return true;
};
echo json_encode(T\all([spawn($short), spawn($long, 1), spawn($long, -1), spawn($short)])), "\n";

final class Waits
{
    public function __serialize(): array { while (!$GLOBALS['goes_on']) suspend(); return ['text']; }
    public function __unserialize(array $data): void {}
}
/** What it holds counts along with what it is in, so that the same object is a reference. */
final class Counts implements Serializable
{
    public function __construct(private object $holds) {}
    public function serialize() { return serialize($this->holds); }
    public function unserialize($data) {}
}
$goes_on = false;
$object = new stdClass;
$expected = serialize([$object, new Counts($object)]);
$waits = spawn(fn() => serialize(new Waits));
T\begun($waits);
$other = await(spawn(fn() => serialize([$object, new Counts($object)])));
T\check('the same as alone', $other === $expected && str_contains($other, 'r:2'), [$other, $expected]);
$goes_on = true;
echo await($waits), "\n";
?>
--EXPECT--
[true,true,true,true]
the same as alone: yes
O:5:"Waits":1:{i:0;s:4:"text";}
