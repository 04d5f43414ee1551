--TEST--
H12 a fork in the middle of linking: the child's coroutine links its class on; what others were linking is refused there
--EXTENSIONS--
pcntl
--FILE--
<?php
use function Async\{await, currentCoroutine, delay, spawn, suspend};

require __DIR__ . '/kit.inc';

$goes_on = false;
$child = null;
spl_autoload_register(function(string $c) use (&$goes_on, &$child) {
    if ($c === 'Own') $child = pcntl_fork(); else while (!$goes_on) suspend();
    eval("class $c {}");
});
function own() { return new class extends Own {}; }
function others() { return new class extends Others {}; }
function named() { if (!class_exists('Named', false)) { class Named extends NamedParent {} } return new Named; }

$links = [spawn('others'), spawn('named')];
T\begun(...$links);
$forks = spawn(function() use (&$child, &$goes_on) {
    $own = get_parent_class(own());
    if ($child === 0) {
        $goes_on = true;
        echo "child: $own\n";
        foreach (['others', 'named'] as $what) {
            $e = T\failure(spawn($what));
            echo get_class($e), ': ', $e->getMessage(), "\n";
        }
        currentCoroutine()->cancel();
        try { delay(1); } catch (Async\CancellationException) { echo "cancelled, as it has linked its class\n"; }
        posix_kill(getmypid(), SIGKILL);
    }
    pcntl_waitpid($child, $status);
    return $own;
});
$own = await($forks);
echo "parent: $own\n";
$goes_on = true;
echo implode(' ', array_map(get_parent_class(...), T\all($links))), "\n";
?>
--EXPECT--
child: Own
Async\AsyncException: class others@anonymous is being declared by a coroutine of the parent process, which does not run in this one
Async\AsyncException: class named is being declared by a coroutine of the parent process, which does not run in this one
cancelled, as it has linked its class
parent: Own
Others NamedParent
