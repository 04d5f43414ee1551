--TEST--
H11 functions of an extension that the program loads itself take turns from then on
--FILE--
<?php
require __DIR__ . '/kit.inc';
if (!is_file(ini_get('extension_dir') . '/sqlite3.so')) die("locked handle 7 1\n");

$code = <<<'PHP'
    use function Async\{await, spawn, suspend};
    await(spawn(fn() => dl('sqlite3')));
    $db = new SQLite3(':memory:');
    $goes_on = false;
    $db->createFunction('pause', function() use (&$goes_on) { while (!$goes_on) suspend(); return 7; });
    $one = spawn(fn() => $db->querySingle('select pause()'));
    while (!$one->isStarted()) suspend();
    $two = spawn(fn() => $db->querySingle('select 1'));
    while (!$two->isStarted()) suspend();
    echo $two->getAwaitingInfo()['call'] ?: 'not waiting';
    $goes_on = true;
    echo ' ', await($one), ' ', await($two), "\n";
    PHP;
echo T\php($code, '-n -d enable_dl=1 -d extension_dir=' . escapeshellarg(ini_get('extension_dir')))->output;
?>
--EXPECT--
locked handle 7 1
