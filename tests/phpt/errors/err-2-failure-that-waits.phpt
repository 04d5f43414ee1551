--TEST--
ERR-2 a failure waits while its coroutine is held: awaited later it is delivered, dropped or never awaited it is unhandled
--FILE--
<?php
require __DIR__ . '/kit.inc';

$codes = [
    'awaited later' => '$c = spawn(fn() => throw new DomainException("x")); delay(10); echo "held "; try { await($c); } catch (DomainException) { echo "delivered "; } unset($c); delay(5); echo "end";',
    'awaited later by two' => '$c = spawn(fn() => throw new DomainException("x")); delay(10); foreach ([1, 2] as $i) try { await($c); } catch (DomainException) { echo "delivered "; } echo "end";',
    'dropped' => '$c = spawn(fn() => throw new DomainException("x")); delay(10); echo "held "; unset($c); delay(10); echo "NOT REACHED";',
    'held to the end' => '$c = spawn(fn() => throw new DomainException("x")); delay(10); echo "end ";',
    'not held' => 'spawn(fn() => throw new DomainException("x")); delay(10); echo "NOT REACHED";',
    'held in a cycle' => '$o = new stdClass; $o->o = $o; $o->c = spawn(fn() => throw new DomainException("x")); delay(10); echo "held "; unset($o); gc_collect_cycles(); delay(10); echo "NOT REACHED";',
];
foreach ($codes as $name => $code) {
    $ended = T\php("use function Async\\{await, delay, spawn};\n$code");
    echo "$name: [$ended->status] ", trim(preg_replace('/\s*(PHP )?Fatal error: +(Uncaught \w+).*/s', ' $2', $ended->output)), "\n";
}
?>
--EXPECT--
awaited later: [0] held delivered end
awaited later by two: [0] delivered delivered end
dropped: [255] held Uncaught DomainException
held to the end: [255] end Uncaught DomainException
not held: [255] Uncaught DomainException
held in a cycle: [255] held Uncaught DomainException
