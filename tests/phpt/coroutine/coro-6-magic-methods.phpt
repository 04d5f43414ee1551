--TEST--
CORO-6 suspension inside magic methods and the interfaces the engine calls
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

final class Slow implements ArrayAccess, Countable, IteratorAggregate, JsonSerializable
{
    public array $data = [];
    public static array $log = [];
    public function __construct(private int $n) { $this->pause(); }
    private function pause(): void { self::$log[] = $this->n; suspend(); }
    public function __get($name) { $this->pause(); return "$name$this->n"; }
    public function __set($name, $value) { $this->pause(); $this->data[$name] = $value; }
    public function __isset($name) { $this->pause(); return $name === "k$this->n"; }
    public function __unset($name) { $this->pause(); unset($this->data[$name]); }
    public function __call($name, $args) { $this->pause(); return "$name($args[0])$this->n"; }
    public function __toString(): string { $this->pause(); return "slow $this->n"; }
    public function __invoke($x) { $this->pause(); return $x * $this->n; }
    public function __clone() { $this->pause(); $this->n += 10; }
    public function __debugInfo() { $this->pause(); return ['n' => $this->n]; }
    public static function __callStatic($name, $args) { suspend(); return "$name static $args[0]"; }
    public static function __set_state($a) { return new self($a['n']); }
    public function offsetExists($o): bool { $this->pause(); return $o === $this->n; }
    public function offsetGet($o): mixed { $this->pause(); return $o + $this->n; }
    public function offsetSet($o, $v): void { $this->pause(); $this->data[] = $v; }
    public function offsetUnset($o): void { $this->pause(); }
    public function count(): int { $this->pause(); return $this->n; }
    public function getIterator(): Iterator { $this->pause(); foreach ([1, 2] as $x) { $this->pause(); yield $x * $this->n; } }
    public function jsonSerialize(): mixed { $this->pause(); return ["j$this->n"]; }
}

$task = function(int $n): array {
    $o = new Slow($n);
    $out = [$o->name, isset($o->{"k$n"}), isset($o->other), $o->method($n), "$o", $o($n), Slow::call($n)];
    $o->x = $n;
    unset($o->y);
    $out[] = [$o[$n], isset($o[$n]), empty($o[$n]), count($o), json_encode([$o]), [...$o]];
    $o[] = 'pushed';
    unset($o[1]);
    $copy = clone $o;
    $out[] = [count($copy), trim(preg_replace('/\s+/', ' ', print_r($o, true))), $o->data];
    $out[] = eval('return ' . preg_replace('/data\b.*$/s', '', 'strtoupper($o)') . ';');
    return $out;
};
$jobs = [];
foreach ([1, 2, 3] as $n) $jobs[$n] = spawn($task, $n);
foreach (T\all($jobs) as $n => $result) {
    echo str_replace("$n", 'N', json_encode($result)), "\n";
}
$switches = 0;
foreach (Slow::$log as $i => $n) $switches += $i > 0 && Slow::$log[$i - 1] !== $n;
T\check('interleaved', $switches > count(Slow::$log) / 2, $switches . ' of ' . count(Slow::$log));
?>
--EXPECT--
["nameN",true,false,"method(N)N","slow N",N,"call static N",[2,true,false,N,"[[\"jN\"]]",[N,2]],[NN,"Slow Object ( [n] => N )",{"x":N,"0":"pushed"}],"SLOW N"]
["nameN",true,false,"method(N)N","slow N",4,"call static N",[4,true,false,N,"[[\"jN\"]]",[N,4]],[1N,"Slow Object ( [n] => N )",{"x":N,"0":"pushed"}],"SLOW N"]
["nameN",true,false,"method(N)N","slow N",9,"call static N",[6,true,false,N,"[[\"jN\"]]",[N,6]],[1N,"Slow Object ( [n] => N )",{"x":N,"0":"pushed"}],"SLOW N"]
interleaved: yes
