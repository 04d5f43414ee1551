--TEST--
Two coroutines serialize one object with __sleep(): neither takes the arrays that the other is inside of for recursion
--FILE--
<?php
use function Async\{await, spawn, suspend};

class Old
{
    public function __construct(public mixed $content) {}
    public function __sleep(): array
    {
        if (Async\currentCoroutine()) suspend();
        return ['content'];
    }
}

#[AllowDynamicProperties]
class Dynamic extends Old
{
    public function __sleep(): array
    {
        parent::__sleep();
        return ['content', 'dynamic'];
    }
}

function both(mixed $value): bool
{
    $expected = "N;";
    $coroutines = [];
    for ($i = 0; $i < 5; $i++) {
        $coroutines[] = spawn(function() use ($value, $i) {
            for ($n = 0; $n < $i; $n++) suspend();
            return serialize($value);
        });
    }
    $texts = array_map(fn($coroutine) => await($coroutine), $coroutines);
    $texts[] = serialize($value);
    return count(array_unique($texts)) === 1 && !str_contains($texts[0], $expected);
}

var_dump(both(new Old([new Old('inner'), 'text'])));
var_dump(both([1, [new Old(new Old([new Old([new Old('inner')])]))]]));
$dynamic = new Dynamic([new Old('inner')]);
$dynamic->dynamic = [new Old('dynamic')];
var_dump(both($dynamic));

// What is recursion stays recursion.
$array = [new Old('in it')];
$array[] = &$array;
$object = new Old($array);
var_dump(await(spawn(fn() => serialize($object))) === serialize($object));
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
