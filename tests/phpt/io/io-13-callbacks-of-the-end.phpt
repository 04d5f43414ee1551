--TEST--
IO-13 a cycle is found at once if a coroutine closes it in the callbacks for its end
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use function Async\{await, currentCoroutine, spawn, suspend};

require __DIR__ . '/kit.inc';
T\without_deprecations();

$ticks = new T\Ticks; // waits for other things all the while: no deadlock that the scheduler would see
$db = new PDO('sqlite::memory:');
$needed = ['class' => fn() => class_exists('Loaded'), 'handle' => fn() => $db->query('select 1')->fetchColumn()];
foreach ($needed as $what => $needs) {
    $ends = null;
    // What the coroutine $ends needs is held by one that waits for the end of $ends, and was needed last.
    $hold = function() use (&$ends) { await($ends); return 1; };
    if ($what === 'class') {
        spl_autoload_register(function($class) use ($hold) { $hold(); eval("class $class {}"); });
    } else {
        $db->sqliteCreateFunction('f', $hold);
    }
    $ends = spawn(function() use ($needs, $what, &$holder) {
        currentCoroutine()->finally(function() use ($needs, $what, &$holder) {
            $holder = spawn(fn() => $what === 'class' ? class_exists('Loaded') : $GLOBALS['db']->query('select f()')->fetchColumn());
            T\until(fn() => ($holder->getAwaitingInfo()['call'] ?? '') === 'await');
            try {
                $answer = json_encode($needs());
            } catch (Async\AsyncException $e) {
                $answer = preg_replace('/#\d+/', '#N', $e->getMessage());
            }
            echo "$what: $answer\n";
        });
    });
    await($ends);
    echo json_encode(await($holder)), "\n";
}
$ticks->stop();
?>
--EXPECT--
class: false
true
handle: PDO::query() would deadlock: coroutine #N is in the middle of PDO::query() and waits for this one
1
