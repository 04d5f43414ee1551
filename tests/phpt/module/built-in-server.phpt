--TEST--
Under the built-in web server the module loads and stays harmless, request after request
--FILE--
<?php
require __DIR__ . '/kit.inc';
T\work_in(['page.php' => '<?php $n = 0; if (isset($_GET["plain"])) { echo "plain"; return; } try { $c = Async\spawn(fn() => 5); echo Async\await($c); } catch (Throwable $e) { echo "refused"; }']);

$server = new T\BuiltInServer();
for ($i = 0; $i < 3; $i++) {
    echo $server->get('page.php?plain=1'), ' ';
    $spawned = $server->get('page.php');
    echo $spawned === '5' || $spawned === 'refused' ? 'fine' : var_export($spawned, true), "\n";
}
var_dump($server->lives());
$server->end();
?>
--EXPECT--
plain fine
plain fine
plain fine
bool(true)
