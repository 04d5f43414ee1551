--TEST--
A transaction that cannot be rolled back at the end of the script is no failure of the script
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/kit.inc';
T\work_in();
$db = new Async\PooledPDO('sqlite:db');
$db->beginTransaction();
$statement = $db->query('select 1');
$db->exec('rollback'); // PDO does not know of it
register_shutdown_function(fn() => print("end\n"));
?>
--EXPECT--
end
