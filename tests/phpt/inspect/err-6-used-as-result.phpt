--TEST--
ERR-6 async.diagnostics warns of a foreach and of json_encode() that get a coroutine or a future in the place of its result
--INI--
async.seed=0
--FILE--
<?php
use Async\{Future, FutureState};
use function Async\{await, spawn, suspend};

set_error_handler(function (int $level, string $message, string $file, int $line) {
    suspend();
    echo "$line: $message\n";
    return true;
});
foreach (['0', '1'] as $on) {
    echo "diagnostics: $on\n";
    ini_set('async.diagnostics', $on);
    $rows = spawn(fn() => [1, 2]);
    foreach ($rows as $row) {
        echo "a row\n";
    }
    foreach ($rows as &$row) {
        echo "a row\n";
    }
    unset($row);
    echo json_encode(['rows' => $rows]), "\n";
    echo @json_encode($rows), "\n";
    $future = new Future(new FutureState);
    foreach ($future as $row) {
        echo "a row\n";
    }
    echo json_encode($future), "\n";
    // No mistake: these show what there is.
    echo count((array) $rows), count(get_object_vars($rows)), "\n";
    foreach (await($rows) as $row) {
        echo $row;
    }
    echo json_encode(await($rows)), "\n";
}
for ($i = 0; $i < 20; $i++) {
    suspend();
}
// An error handler may free the object, and change the variable. The engine has gone on by then.
set_error_handler(function (int $level, string $message) {
    $GLOBALS['one'] = 5;
    echo "$message\n";
});
$one = spawn(fn() => 1);
await($one);
foreach ($one as $row) {
    echo "a row\n";
}
foreach ($one as &$row) {
    echo "a row\n";
}
unset($row);
echo json_encode([&$one]), "\n";
suspend();
var_dump($one);
?>
--EXPECT--
diagnostics: 0
{"rows":{}}
{}
{}
00
12[1,2]
diagnostics: 1
{"rows":{}}
{}
{}
00
12[1,2]
14: foreach over an object of class Async\Coroutine has no elements (await it to get its result)
17: foreach over an object of class Async\Coroutine has no elements (await it to get its result)
21: Object of class Async\Coroutine is {} in JSON (await it to get its result)
24: foreach over an object of class Async\Future has no elements (await it to get its result)
27: Object of class Async\Future is {} in JSON (await it to get its result)
[{}]
foreach over an object of class Async\Coroutine has no elements (await it to get its result)
foreach over an object of class Async\Coroutine has no elements (await it to get its result)
Object of class Async\Coroutine is {} in JSON (await it to get its result)
int(5)
