--TEST--
PRIM-2 Future: chains of a hundred thousand futures are completed and released
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Future, FutureState};

foreach (['kept by its end', 'kept by its beginning', 'dropped before it is complete'] as $what) {
    $s = new FutureState;
    $f = $first = new Future($s);
    for ($i = 0; $i < 100_000; $i++) {
        $f = $f->catch(fn() => 0);
    }
    if ($what !== 'dropped before it is complete') {
        if ($what === 'kept by its beginning') unset($f);
        $s->complete('through all');
        attempt($what, fn() => ($f ?? $first)->await());
    }
    unset($s, $f, $first);
    echo "released\n";
}
?>
--EXPECT--
kept by its end: "through all"
released
kept by its beginning: "through all"
released
released
