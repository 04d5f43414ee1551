--TEST--
IO-9 who requires a file once, whose code another coroutine is still running, waits for the end of that code
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in([
    'settings.php' => '<?php usleep(20_000); if (true) { function conditional() { return "declared"; } class Conditional {} } define("SETTING", 7); usleep(5_000); $GLOBALS["log"][] = "settings done"; return ["setting"];',
    'outer.php' => '<?php Async\delay(5); require_once "settings.php"; $GLOBALS["outer"] = SETTING;',
    'left.php' => '<?php Async\delay(5); require_once "right.php"; function left() {}',
    'right.php' => '<?php Async\delay(5); require_once "left.php"; function right() {}',
    'fails.php' => '<?php Async\delay(5); throw new Exception("from the file");',
    'self.php' => '<?php $GLOBALS["inner"] = Async\await(Async\spawn(function() { return require_once "self.php"; })); return 5;',
    'chain.php' => '<?php $b = Async\spawn(fn() => require_once "chain.php"); Async\await(Async\spawn(fn() => Async\await($b))); return "chain done";',
    'secret.php' => '<?php while (!$GLOBALS["waiter"]->isCompleted()) { Async\await(Async\spawn(fn() => Async\suspend())); if (++$GLOBALS["turns"] > 50) { echo "waits for nothing\n"; $GLOBALS["waiter"]->cancel(); T\ended($GLOBALS["waiter"]); } } return 1;',
    'slow.php' => '<?php Async\delay(100); $GLOBALS["log"][] = "slow done";',
]);
$log = [];

// each sees all of it
for ($i = 0, $jobs = []; $i < 5; $i++) {
    $jobs[] = spawn(function() use ($i) {
        for ($k = 0; $k < $i; $k++) suspend();
        $value = require_once 'settings.php';
        return [conditional(), class_exists('Conditional', false), SETTING, $value];
    });
    T\begun($jobs[0]); // the one who runs it
}
$jobs[] = spawn(function() { require_once 'outer.php'; return $GLOBALS['outer']; });
echo json_encode(T\all($jobs)), ' ', implode(',', $log), "\n";

// circles go on, as in one coroutine
$jobs = [spawn(fn() => require_once 'left.php'), spawn(fn() => require_once 'right.php')];
echo json_encode(T\all($jobs)), ' ', function_exists('left') && function_exists('right') ? 'both' : 'not both', "\n";
echo json_encode([require_once 'self.php', $inner]), "\n";
echo json_encode(await(spawn(fn() => require_once 'chain.php'))), "\n";

// the one who ran it failed: the others find what there is, as after a failed require
$require = function() { try { return require_once 'fails.php'; } catch (Exception $e) { return $e->getMessage(); } };
T\begun($runs = spawn($require));
echo json_encode(T\all([$runs, spawn($require)])), "\n";

// cancelled while it waits
$loader = spawn(fn() => require_once 'slow.php');
T\begun($loader);
$waiter = spawn(function() { try { require_once 'slow.php'; echo "not reached\n"; } finally { echo 'gone on: ', in_array('slow done', $GLOBALS['log']) ? 'late' : 'at once', "\n"; } });
T\begun($waiter);
$waiter->cancel();
echo get_class(T\failure($waiter)), "\n";
await($loader);

// a file that waits in its own way for somebody who requires it: that one can be cancelled
$turns = 0;
$waiter = spawn(function() { suspend(); require_once 'secret.php'; });
echo require_once 'secret.php', "\n";

// a plain include is nobody's business, and a parse error neither
echo json_encode(T\all([spawn(fn() => include 'settings2.php'), spawn(fn() => 1)])), "\n";
?>
--EXPECTF--
[["declared",true,7,["setting"]],["declared",true,7,true],["declared",true,7,true],["declared",true,7,true],["declared",true,7,true],7] settings done
[1,1] both
[5,true]
"chain done"
["from the file",true]
gone on: at once
Async\CancellationException
waits for nothing
1

Warning: include(settings2.php): Failed to open stream: No such file or directory in %s on line %d

Warning: include(): Failed opening 'settings2.php' for inclusion (include_path='%s') in %s on line %d
[false,1]
