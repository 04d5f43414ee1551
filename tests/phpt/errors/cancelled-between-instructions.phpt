--TEST--
A cancellation that comes when a call has returned, as what it has freed has waited, leaves nothing of what the next instruction takes
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{spawn, await, delay};

/** Waits for its child when it is freed, which is where it is cancelled: in no call. */
final class Child
{
    public static int $pid;
    public static bool $returns = false;
    private $child;

    function __construct()
    {
        $this->child = popen('echo $$; exec sleep 60', 'r');
        self::$pid = (int) fgets($this->child);
    }

    function rows(): array
    {
        self::$returns = true;
        return range(1, 5_000);
    }
}

function text(): string
{
    return str_repeat('y', 50_000);
}

$cases = [
    'a result' => function () { $rows = array_merge([text()], (new Child)->rows()); },
    'a result for an array' => function () { $a = [text(), implode((new Child)->rows())]; },
    'an argument' => function () { $n = count(array_merge((new Child)->rows(), [text()])); },
    'one of several' => function () { return array_merge([text()], array_reverse((new Child)->rows()), [text()]); },
    'one where ways meet' => function () { return array_merge([text()], (new Child)->rows() ?: [text()]); },
    'a value where ways meet' => function () { $rows = match (text()) { default => (new Child)->rows() }; },
    'a loop' => function () { foreach ((new Child)->rows() as $n) { if ($n === 3) { break; } } },
    'a loop in a loop' => function () { foreach ([text(), text()] as $t) { foreach ((new Child)->rows() as $n) { break 2; } } },
    'an operand' => function () { return text() . implode((new Child)->rows()); },
    'a piece of a string' => function () { $x = text(); return "$x-{$x}-$x" . implode((new Child)->rows()) . "a$x"; },
    'pieces of a string' => function () {
        [$x, $o] = [text(), new ArrayObject([1])];
        return "$x-{$o->offsetGet(implode((new Child)->rows()) ? 0 : 1)}-$x";
    },
    'silence' => function () { return @strlen(implode((new Child)->rows())) ?: @text(); },
    'a new object' => function () { return new ArrayObject(array_merge([text()], (new Child)->rows())); },
    'a generator' => function () { foreach ((function () { yield from (new Child)->rows(); })() as $n) { break; } },
];
foreach ($cases as $name => $case) {
    $memory = [];
    for ($i = 0; $i < 5; $i++) {
        Child::$returns = false;
        $coroutine = spawn($case);
        while (!Child::$returns || !$coroutine->isSuspended()) {
            delay(1);
        }
        $coroutine->cancel();
        try {
            await($coroutine);
            echo "$name: not cancelled\n";
        } catch (Async\CancellationException) {
        }
        unset($coroutine);
        posix_kill(Child::$pid, SIGKILL);
        gc_collect_cycles();
        $memory[] = memory_get_usage();
    }
    $grown = end($memory) - $memory[1];
    $grown < 2_000 || print("$name: $grown bytes are left\n");
    error_reporting() === E_ALL || print("$name: errors are silenced\n");
}
echo count($cases), "\n";
?>
--EXPECT--
14
