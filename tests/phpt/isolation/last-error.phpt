--TEST--
CORO-8 error_get_last() is of one's own calls: whatever others do meanwhile, after a fair write, in handlers; shutdown functions see a coroutine's fatal error
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

function last(): ?string
{
    return error_get_last()['message'] ?? null;
}

@trigger_error('of the script');
$quiet = spawn(fn () => last());
$noisy = spawn(function (): array {
    @trigger_error('first');
    suspend();
    $seen = [last()];
    @trigger_error('second');
    T\turns(5);
    $seen[] = last();
    error_clear_last();
    T\turns(5);
    $seen[] = last();
    return $seen;
});
$many = [];
for ($i = 0; $i < 50; $i++) {
    $many[] = spawn(function () use ($i): bool {
        $level = $i % 2 === 0 ? E_USER_NOTICE : E_USER_WARNING;
        for ($n = 0; $n < 5; $n++) {
            @trigger_error("$i, $n", $level);
            suspend();
            if (error_get_last() !== ['type' => $level, 'message' => "$i, $n", 'file' => __FILE__, 'line' => __LINE__ - 2]) {
                return false;
            }
        }
        return true;
    });
}
var_dump(await($quiet));
echo json_encode(await($noisy)), "\n";
var_dump(array_unique(T\all($many)) === [true], last());

// A function that fails is over before others run, however fairly.
[$a, $b] = T\pair();
fclose($b);
$writer = spawn(function () use ($a): int {
    for ($i = $right = 0; $i < 200; $i++) {
        $right += @fwrite($a, 'x') === false && str_contains((string) last(), 'Broken pipe');
        error_clear_last();
    }
    return $right;
});
$other = spawn(function (): void {
    for ($i = 0; $i < 200; $i++) {
        @trigger_error('of the other');
        suspend();
    }
});
var_dump(await($writer));
await($other);

// With a handler of its own.
var_dump(await(spawn(function (): ?string {
    set_error_handler(function (int $level, string $message): bool {
        @trigger_error('in the handler', E_USER_WARNING);
        delay(1);
        return false; // PHP's own goes on with it
    }, E_USER_DEPRECATED);
    @trigger_error('through the handler', E_USER_DEPRECATED);
    suspend();
    return last();
})));

$memory = function (): int {
    for ($jobs = [], $i = 0; $i < 2000; $i++) {
        $jobs[] = spawn(function () use ($i): void {
            @trigger_error(str_repeat('long ', 100) . $i);
            strtok(str_repeat('long ', 100) . $i, ' ');
            suspend();
        });
    }
    T\all($jobs);
    unset($jobs);
    return memory_get_usage();
};
$memory();
$before = $memory();
var_dump($memory() - $before < 100_000);

foreach (['uncaught' => 'undefined_function();', 'fatal' => "eval('function strlen() {}');", 'exit' => 'exit(3);'] as $name => $end) {
    $ended = T\php(<<<PHP
        register_shutdown_function(function () {
            echo error_get_last()['type'], ' ', strtok(error_get_last()['message'], "(\n"), "\n";
        });
        @trigger_error('of the script');
        Async\spawn(fn () => @trigger_error('of another') || Async\delay(600_000));
        Async\spawn(function () {
            @trigger_error('of the one that ends it');
            Async\delay(5);
            $end
        });
        Async\delay(100);
        PHP, '-d display_errors=0');
    echo "$name: $ended";
}
?>
--EXPECTF--
NULL
["first","second",null]
bool(true)
string(13) "of the script"
int(200)
string(19) "through the handler"
bool(true)
uncaught: [255] 1 Uncaught Error: Call to undefined function undefined_function
fatal: [255] 64 Cannot redeclare %r(function )?%rstrlen
exit: [3] 1024 of the one that ends it
