--TEST--
ERR-10 a coroutine, a future or a task in the place of its result is refused with the words that it is to be awaited
--FILE--
<?php
use Async\{Future, FutureState, Task\Task};
use function Async\{await, awaitAll, spawn};

function refused(callable $code): void
{
    try {
        var_dump($code());
    } catch (Throwable $e) {
        echo $e::class, ': ', preg_replace('/, called in .*/', '', $e->getMessage()), $e->getPrevious() ? ' with a previous one' : '', "\n";
    }
}

function tried(string|int $value): string|int
{
    return $value;
}

$two = spawn(fn() => 2);
refused(fn() => $two + 1);
refused(fn() => 'none' . $two);
refused(fn() => 'none' * $two);
refused(fn() => $two - $two);
refused(fn() => -$two);
refused(fn() => ++$two);
refused(fn() => [1] | $two);
refused(function () use ($two) {
    $sum = 3;
    try {
        $sum **= $two;
    } finally {
        echo "$sum: ";
    }
});
refused(fn() => "in $two words");
refused(fn() => (string) $two);
refused(function () use ($two) { echo $two; });
refused(function () use ($two) { $text = 'a'; $text .= $two; });
$future = new Future(new FutureState);
refused(fn() => $future % 2);
refused(fn() => $two / $future);
refused(fn() => new Task(1, (fn() => yield)()) . '');
refused(fn() => await([$two, $two]));

echo "as of any object\n";
final class Other {}
foreach ([$two, new Other] as $object) {
    foreach ([strlen(...), intval(...), boolval(...), tried(...), fn($x) => $x . new Other] as $function) {
        refused(fn() => @$function($object));
    }
    refused(fn() => [$object == 'a', $object xor true, implode((array) $object), json_encode([$object])]);
}
set_error_handler(fn(int $level, string $message) => throw new ErrorException($message));
foreach ([$two, new Other] as $object) {
    refused(fn() => $missing + $object);
}
var_dump(await($two) + array_sum(awaitAll([$two, $two])));
?>
--EXPECT--
TypeError: Unsupported operand types: Async\Coroutine + int (await the Async\Coroutine to get its result)
Error: Object of class Async\Coroutine could not be converted to string (await it to get its result)
TypeError: Unsupported operand types: Async\Coroutine * string (await the Async\Coroutine to get its result)
TypeError: Unsupported operand types: Async\Coroutine - Async\Coroutine (await the Async\Coroutine to get its result)
TypeError: Unsupported operand types: Async\Coroutine * int (await the Async\Coroutine to get its result)
TypeError: Unsupported operand types: Async\Coroutine + int (await the Async\Coroutine to get its result)
TypeError: Unsupported operand types: Async\Coroutine | array (await the Async\Coroutine to get its result)
3: TypeError: Unsupported operand types: int ** Async\Coroutine (await the Async\Coroutine to get its result)
Error: Object of class Async\Coroutine could not be converted to string (await it to get its result)
Error: Object of class Async\Coroutine could not be converted to string (await it to get its result)
Error: Object of class Async\Coroutine could not be converted to string (await it to get its result)
Error: Object of class Async\Coroutine could not be converted to string (await it to get its result)
TypeError: Unsupported operand types: Async\Future % int (await the Async\Future to get its result)
TypeError: Unsupported operand types: Async\Coroutine / Async\Future (await the Async\Coroutine to get its result)
Error: Object of class Async\Task\Task could not be converted to string (await it to get its result)
TypeError: Async\await(): Argument #1 ($awaitable) must be of type Async\Awaitable|Async\Scope, array given (Async\awaitAll() awaits the members of an array)
as of any object
TypeError: strlen(): Argument #1 ($string) must be of type string, Async\Coroutine given
int(1)
bool(true)
TypeError: tried(): Argument #1 ($value) must be of type string|int, Async\Coroutine given
Error: Object of class Async\Coroutine could not be converted to string (await it to get its result)
array(4) {
  [0]=>
  bool(false)
  [1]=>
  bool(false)
  [2]=>
  string(0) ""
  [3]=>
  string(4) "[{}]"
}
TypeError: strlen(): Argument #1 ($string) must be of type string, Other given
int(1)
bool(true)
TypeError: tried(): Argument #1 ($value) must be of type string|int, Other given
Error: Object of class Other could not be converted to string
array(4) {
  [0]=>
  bool(false)
  [1]=>
  bool(false)
  [2]=>
  string(0) ""
  [3]=>
  string(4) "[{}]"
}
ErrorException: Undefined variable $missing
ErrorException: Undefined variable $missing
int(6)
