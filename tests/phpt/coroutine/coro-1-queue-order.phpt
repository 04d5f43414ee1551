--TEST--
CORO-1 nothing starts inside spawn(); the queue is first in, first out, for newcomers and for those who gave way
--INI--
async.seed=0
--FILE--
<?php
use function Async\{spawn, suspend};

foreach (['a', 'b', 'c'] as $name) {
    spawn(function() use ($name) {
        for ($turn = 1; $turn <= 3; $turn++) {
            echo "$name$turn ";
            if ($name === 'b' && $turn === 1) {
                spawn(function() {
                    echo 'new1 ';
                    suspend();
                    echo 'new2 ';
                });
                echo '(spawned) ';
            }
            suspend();
        }
    });
}
echo 'main ';
?>
--EXPECT--
main a1 b1 (spawned) c1 a2 new1 b2 c2 a3 new2 b3 c3
