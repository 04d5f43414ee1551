--TEST--
CORO-1 arguments that do not fit the task fail in the coroutine, not in spawn()
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

function takes(int $a, int $b = 2): int { return $a + $b; }

$tasks = [
    'too few' => spawn('takes'),
    'wrong type' => spawn('takes', 'text'),
    'unknown name' => spawn('takes', 1, c: 3),
    'same twice' => spawn('takes', 1, a: 3),
    'internal, too few' => spawn('strlen'),
    'internal, too many' => spawn('strlen', 'a', 'b'),
    'internal, wrong type' => spawn('strlen', []),
];
echo "all are spawned\n";
foreach ($tasks as $name => $task) {
    echo "$name: ", get_class(T\failure($task)), "\n";
}
var_dump(await(spawn('takes', 1)), await(spawn('takes', '5')));
?>
--EXPECT--
all are spawned
too few: ArgumentCountError
wrong type: TypeError
unknown name: Error
same twice: Error
internal, too few: ArgumentCountError
internal, too many: ArgumentCountError
internal, wrong type: TypeError
int(3)
int(7)
