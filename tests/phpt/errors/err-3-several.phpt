--TEST--
ERR-3 every unhandled exception is reported, in the order they arose; the second one ends what resists
--FILE--
<?php
require __DIR__ . '/kit.inc';

$start = hrtime(true);
$ended = T\php(<<<'PHP'
    use function Async\{delay, spawn};
    spawn(function() { delay(10); throw new DomainException('first'); });
    spawn(function() { try { delay(600_000); } finally { delay(10); throw new LogicException('second'); } });
    spawn(function() {
        for ($i = 1; $i <= 2; $i++) {
            try {
                delay(600_000);
            } catch (Async\CancellationException) {
                echo "resists $i\n";
            }
        }
    });
    spawn(function() { try { delay(600_000); } finally { delay(1000); throw new RangeException('third'); } });
    PHP);
// an exception that came after a cancellation is reported with it, as PHP reports a chain
preg_match_all('/(?:Uncaught|Next) (?:DomainException|LogicException|RangeException): (\w+)/', $ended->output, $m);
echo implode(', ', $m[1]), " [$ended->status]\n";
T\check('asked once, then by force', $ended->has("resists 1\n", "resists 2\n"), $ended);
T\check('in time', T\ms($start) < 60_000, T\ms($start));
?>
--EXPECTF--
first, second%S [255]
asked once, then by force: yes
in time: yes
