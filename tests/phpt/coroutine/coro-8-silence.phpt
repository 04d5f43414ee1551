--TEST--
CORO-8 the @ operator and error_reporting() of one coroutine silence no other one, even when an exception leaves the @
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';

error_reporting(E_ALL);
$levels = [];
$note = function(string $name) use (&$levels) { $levels[$name][] = error_reporting(); };

function silently(callable $note, string $name)
{
    $note($name);
    suspend();
    $note($name);
    T\turns(10);
    if ($name === 'throws') throw new RuntimeException('out of the silence');
    return 1;
}

T\all([
    spawn(function() use ($note) { @silently($note, 'quiet'); $note('quiet'); }),
    spawn(function() use ($note) { silently($note, 'loud'); $note('loud'); }),
    spawn(function() use ($note) {
        try {
            @silently($note, 'throws');
        } catch (RuntimeException) {
            suspend();
            $note('throws');
        }
    }),
    spawn(function() use ($note) { error_reporting(E_ERROR); silently($note, 'errors only'); $note('errors only'); }),
    spawn(function() use ($note) { $c = @spawn(fn() => $note('spawned under @')); Async\await($c); }),
]);
$note('script');
unset($levels['spawned under @']);
ksort($levels);
foreach ($levels as $name => $seen) {
    echo "$name: ", implode(' ', array_map(fn($l) => match ($l) { E_ALL => 'all', E_ERROR => 'error', 4437 => 'silent', default => $l }, $seen)), "\n";
}
?>
--EXPECT--
errors only: error error error
loud: all all all
quiet: silent silent all
script: all
throws: silent silent all
