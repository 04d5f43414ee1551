--TEST--
A process forked in a fiber, or in run(), goes on with schedulers of its own
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/loop.inc';

$q = new Queue;
$other = $q->fiber(function() use ($q) { try { while (true) $q->turn(); } finally { echo posix_getpid() === $GLOBALS['me'] ? '' : "WRONG: another fiber runs in the child\n"; } });
$main = null;
$fiber = $q->fiber(function() use ($q, $other, &$main) {
    $q->turn();
    $child = pcntl_fork();
    if ($child === 0) {
        try {
            $q->deferred = [];
            echo 'child: ', $q->turn('resumed by a new run()'), "\n";
            $q->defer(function() use ($other) { try { $other->resume(); } catch (FiberError $e) { echo 'child: ', said($e), "\n"; } });
            $q->turn();
            $made = $q->fiber(function() use ($q) { $q->turn(); echo "child: a new fiber\n"; });
            while (!$made->isTerminated()) $q->turn();
        } finally {
            echo "child: finally\n";
        }
        exit(7);
    }
    pcntl_waitpid($child, $status);
    echo 'parent: ', pcntl_wexitstatus($status), ', ', $q->turn('resumed'), "\n";
});
$me = posix_getpid();
while (!$fiber->isTerminated()) $q->turn();
$q->defer(function() {
    $child = pcntl_fork();
    if ($child === 0) {
        echo "child in run()\n";
        exit(8);
    }
    pcntl_waitpid($child, $status);
    echo 'parent: ', pcntl_wexitstatus($status), "\n";
});
$q->turn();
$q->deferred = [];
unset($other);
echo "end\n";
?>
--EXPECT--
child: resumed by a new run()
child: FiberError: Cannot resume a fiber that is not suspended
child: a new fiber
child: finally
parent: 7, resumed
child in run()
parent: 8
end
