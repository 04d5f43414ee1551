--TEST--
H16 a call that would wait for its own coroutine is refused with an error; the others go on
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
use function Async\{await, delay, spawn, suspend};

require __DIR__ . '/kit.inc';
T\without_deprecations();

// waits for other things all the while: no deadlock that the scheduler would see
$ticks = 0;
$ticker = spawn(function() use (&$ticks) { while (true) { delay(1); $ticks++; } });
$db = new PDO('sqlite::memory:');
$say = fn(Throwable $e) => get_class($e) . ': ' . preg_replace('/#\d+/', '#N', $e->getMessage()) . "\n";
$query = fn() => $db->query('select 2')->fetchColumn();

$db->sqliteCreateFunction('at_once', function() use ($query, $say) { try { return await(spawn($query)); } catch (Async\AsyncException $e) { echo $say($e); return 7; } });
echo $db->query('select at_once()')->fetchColumn(), "\n";
// the other one waits for its turn already when it is awaited
$db->sqliteCreateFunction('later', function() use ($query, $say) { $c = spawn($query); T\parked($c); try { return await($c); } catch (Async\AsyncException $e) { echo $say($e); return 8; } });
echo await(spawn(fn() => $db->query('select later()')->fetchColumn())), "\n";
// over a third one
$db->sqliteCreateFunction('far', function() use ($query, $say) { $c = spawn($query); $d = spawn(fn() => await($c)); T\parked($c, $d); try { return await($d); } catch (Async\AsyncException $e) { echo $say($e); return 9; } });
echo await(spawn(fn() => $db->query('select far()')->fetchColumn())), "\n";
// who only waits for its turn gets it
$db->sqliteCreateFunction('fine', function() use ($query, &$c) { $c = spawn($query); T\parked($c); return 1; });
echo $db->query('select fine()')->fetchColumn(), await($c), "\n";
// C code that no function was called for is not run either, and nothing is lost by it
$rows = $db->prepare('select 3');
$db->sqliteCreateFunction('rows', function() use (&$rows, $say) { try { return await(spawn(function() use (&$rows) { foreach ($rows as $row) return 'a row'; })); } catch (Async\AsyncException $e) { echo $say($e); return 4; } });
echo $db->query('select rows()')->fetchColumn(), "\n";
$db->sqliteCreateFunction('gone', function() use (&$rows, $say) { try { await(spawn(function() use (&$rows) { $rows = null; })); } catch (Async\AsyncException $e) { echo $say($e); } return 5; });
echo $db->query('select gone()')->fetchColumn(), "\n";
T\check('the statement is gone', $rows === null);
echo $db->query('select 6')->fetchColumn(), "\n";
T\check('others ran', $ticks > 0);
$ticker->cancel();
?>
--EXPECT--
Async\AsyncException: PDO::query() would deadlock: coroutine #N is in the middle of PDO::query() and waits for this one
7
Async\AsyncException: PDO::query() would deadlock: coroutine #N is in the middle of PDO::query() and waits for this one
8
Async\AsyncException: PDO::query() would deadlock: coroutine #N is in the middle of PDO::query() and waits for this one
9
12
Async\AsyncException: a call would deadlock: coroutine #N is in the middle of PDO::query() and waits for this one
4
Async\AsyncException: a call would deadlock: coroutine #N is in the middle of PDO::query() and waits for this one
5
the statement is gone: yes
6
others ran: yes
