--TEST--
CORO-6 IO-9 loaders of different classes at once, one that fails, and two classes that need each other: no one waits for ever
--FILE--
<?php
use function Async\spawn;

require __DIR__ . '/kit.inc';

spl_autoload_register(function(string $class) {
    T\turns(20);
    if ($class === 'Fails') throw new DomainException('the loader fails');
    if (preg_match('/^Good\d+$/', $class)) eval("class $class {}");
    if ($class === 'A') { class_exists('B'); eval('class A { const X = 1; }'); }
    if ($class === 'B') { class_exists('A'); eval('class B { const X = 2; }'); }
});
$jobs = [];
for ($i = 0; $i < 20; $i++) $jobs[] = spawn(fn() => get_class(new ('Good' . $i % 10)));
sort($jobs);
echo count(array_unique(T\all($jobs))), "\n";

for ($i = 0; $i < 3; $i++) echo get_class(T\failure(spawn(fn() => new Fails))), "\n";

$a = spawn(fn() => A::X);
$b = spawn(fn() => B::X);
$ended = 0;
foreach ([$a, $b] as $c) {
    try {
        Async\await($c, Async\timeout(60_000));
        $ended++;
    } catch (Async\AwaitCancelledException) {
        echo "waits for ever\n";
    } catch (Error) {
        $ended++; // one may miss the class that the other one is loading, as a loader does that needs itself
    }
}
var_dump($ended);
?>
--EXPECT--
10
DomainException
DomainException
DomainException
int(2)
