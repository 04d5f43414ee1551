--TEST--
H18 two coroutines that come to one object by what a method has returned: neither finds it in use
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

final class Pausing implements JsonSerializable
{
    public function jsonSerialize(): mixed { for ($i = 0; $i < 3; $i++) suspend(); return 'paused'; }
}
final class Returns implements JsonSerializable
{
    public function __construct(private Closure $returned) {}
    public function jsonSerialize(): mixed { return ($this->returned)(); }
}
final class Declares
{
    public mixed $in = null;
}
foreach ([new Declares, new stdClass] as $shared) {
    $shared->in = [new Pausing, new Pausing];
    $encode = fn() => json_encode(new Returns(fn() => $shared)) ?: json_last_error_msg();
    echo implode(' ', T\all([spawn($encode), spawn($encode), spawn($encode)])), "\n";
}
?>
--EXPECT--
{"in":["paused","paused"]} {"in":["paused","paused"]} {"in":["paused","paused"]}
{"in":["paused","paused"]} {"in":["paused","paused"]} {"in":["paused","paused"]}
