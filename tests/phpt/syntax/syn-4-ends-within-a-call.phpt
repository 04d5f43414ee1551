--TEST--
SYN-4 exit, fatal errors, failures and cancellation within a spawned call, with strict types and without: as in any coroutine
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    register_shutdown_function(function () { echo "shutdown\n"; });
    final class Gone { function __construct(public string $name) {} function __destruct() { echo "$this->name is gone\n"; } }
    function waits(Gone $gone) { try { Async\delay(600_000); } catch (Async\CancellationException $e) { echo "cancelled\n"; throw $e; } finally { echo "finally\n"; } }
    function exits($gone) { exit(7); }
    function exits_later(&$gone) { suspend; exit(7); }
    function fatal($gone) { eval('class Twice {} class Twice {}'); }
    function recurses($n) { return recurses($n + 1) + array_sum(array_map('recurses', [$n])); }
    function fails($gone) { throw new LogicException('failure'); }
    function stack($n) { array_map(fn() => stack($n + 1), [1]); }
    $kinds = [
        'exit' => fn() => await spawn exits(new Gone('argument')),
        'exit later' => function () { $gone = new Gone('reference'); await spawn exits_later($gone); },
        'exit of PHP' => fn() => await spawn array_map(fn() => exit(8), [1]),
        'fatal' => fn() => await spawn fatal(1),
        'error of the user' => fn() => await spawn trigger_error('fatal', E_USER_ERROR),
        'stack' => fn() => await spawn stack(1),
        'uncaught' => fn() => spawn fails(new Gone('argument')),
        'uncaught of PHP' => fn() => spawn strrev([]),
        'cancelled' => function () { $c = spawn waits(new Gone('argument')); while (!$c->isSuspended()) suspend; $c->cancel(); try { await $c; } catch (Async\CancellationException $e) { echo get_class($e), "\n"; } },
        'cancelled before' => function () { $c = spawn waits(new Gone('argument')); $c->cancel(); try { await $c; } catch (Async\CancellationException $e) { echo get_class($e), "\n"; } unset($c, $e); },
        'cancelled in PHP' => function () { $c = spawn usleep(600_000_000); while (!$c->isSuspended()) suspend; $c->cancel(); try { await $c; } catch (Async\CancellationException $e) { echo get_class($e), "\n"; } },
        'cancelled at the end' => function () { $c = spawn waits(new Gone('argument')); while (!$c->isSuspended()) suspend; unset($c); Async\gracefulShutdown(); },
    ];
    $kinds[$argv[1]]();
    echo "end\n";
    PHP;
T\work_in();
foreach (['exit', 'exit later', 'exit of PHP', 'fatal', 'error of the user', 'stack', 'uncaught', 'uncaught of PHP', 'cancelled', 'cancelled before', 'cancelled in PHP', 'cancelled at the end'] as $kind) {
    $ends = [];
    foreach (['', ' declare(strict_types=1);'] as $declare) {
        file_put_contents('source.php', "<?php$declare\n$code");
        $ends[] = preg_replace('~(Maximum|Stack|The stack)[^\n]*?(?= in )~', 'Stack...', T\as_in_8_2(short(T\command(T\interpreter() . ' source.php ' . escapeshellarg($kind)))));
    }
    echo "-- $kind: $ends[0]\n";
    if ($ends[0] !== $ends[1]) echo "with strict types: $ends[1]\n";
}
?>
--EXPECT--
-- exit: [7] shutdown
argument is gone

-- exit later: [7] shutdown
reference is gone

-- exit of PHP: [8] shutdown

-- fatal: [255] 
Fatal error: Cannot declare class Twice, because the name is already in use in source.php(7) : eval()'d code on line 1
shutdown

-- error of the user: [255] 
Fatal error: fatal in source.php on line 16
shutdown

-- stack: [255] 
Fatal error: Stack... in source.php on line 10
shutdown

-- uncaught: [255] end

Fatal error: Uncaught LogicException: failure in source.php:9
Stack trace:
#0 source.php(18): fails(Object(Gone))
#1 {main}
  in coroutine #2, spawned at source.php:18
  thrown in source.php on line 9
argument is gone
shutdown

-- uncaught of PHP: [255] end

Fatal error: Uncaught TypeError: strrev(): Argument #1 ($string) must be of type string, array given in source.php:19
Stack trace:
#0 source.php(19): strrev(Array)
#1 {main}
  in coroutine #2, spawned at source.php:19
  thrown in source.php on line 19
shutdown

-- cancelled: [0] cancelled
finally
argument is gone
Async\CancellationException
end
shutdown

-- cancelled before: [0] argument is gone
Async\CancellationException
end
shutdown

-- cancelled in PHP: [0] Async\CancellationException
end
shutdown

-- cancelled at the end: [0] end
cancelled
finally
argument is gone
shutdown
