--TEST--
The child of a fork has no connections of its parent, also before the first coroutine is spawned
--EXTENSIONS--
pcntl
pdo_sqlite
--FILE--
<?php
require __DIR__ . '/kit.inc';
use Async\{Pool, PooledPDO};

T\work_in();
class Thing { public int $pid; function __construct() { $this->pid = getmypid(); } function __destruct() { if ($this->pid !== getmypid()) echo "destroyed in the child\n"; } }
$db = new PooledPDO('sqlite:db');
$pool = new Pool(fn() => new Thing, min: 1);
$db->beginTransaction();
$pid = pcntl_fork();
if ($pid === 0) {
    T\check('no connections', count($db->pool) === 0 && !$db->inTransaction() && count($pool) === 0);
    T\check('its own', $db->query('select 1')->fetchColumn() == 1 && count($db->pool) === 1 && $pool->acquire()->pid === getmypid());
    exit(5);
}
pcntl_waitpid($pid, $status);
T\check('the parent has them', pcntl_wexitstatus($status) === 5 && $db->inTransaction() && count($pool) === 1);
?>
--EXPECT--
no connections: yes
its own: yes
the parent has them: yes
