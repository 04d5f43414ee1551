--TEST--
CORO-1 arguments and captured variables have the value of the time of spawn, unless captured by reference
--FILE--
<?php
use function Async\{await, spawn};

$list = [1, 2];
$text = 'then';
$shared = 'then';
$coroutine = spawn(function(array $list) use ($text, &$shared) {
    $list[] = 'of the coroutine';
    $shared .= ', seen';
    return [$list, $text];
}, $list);
$list[] = 3;
$text = $shared = 'now';

echo json_encode(await($coroutine)), "\n";
echo json_encode($list), " $text; $shared\n";
?>
--EXPECT--
[[1,2,"of the coroutine"],"then"]
[1,2,3] now; now, seen
