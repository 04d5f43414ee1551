--TEST--
ERR-6 async.diagnostics warns at once of a foreach and of json_encode() that get a coroutine or a future in the place of its result
--FILE--
<?php
use Async\{Future, FutureState};
use function Async\{await, spawn};

set_error_handler(function (int $level, string $message, string $file, int $line) {
    Async\suspend();
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
set_error_handler(fn(int $level, string $message) => throw new ErrorException($message));
$one = spawn(fn() => 1);
await($one);
try {
    foreach ($one as $row) {
        echo "a row\n";
    }
} catch (ErrorException $e) {
    echo $e->getMessage(), ' @', $e->getTrace()[0]['line'], "\n";
}
restore_error_handler();
?>
--EXPECT--
diagnostics: 0
{"rows":{}}
{}
00
12[1,2]
diagnostics: 1
14: foreach over an object of class Async\Coroutine has no elements (await it to get its result)
17: foreach over an object of class Async\Coroutine has no elements (await it to get its result)
21: Object of class Async\Coroutine is {} in JSON (await it to get its result)
{"rows":{}}
23: foreach over an object of class Async\Future has no elements (await it to get its result)
26: Object of class Async\Future is {} in JSON (await it to get its result)
{}
00
12[1,2]
foreach over an object of class Async\Coroutine has no elements (await it to get its result) @38
