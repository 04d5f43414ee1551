--TEST--
APP-3 a pool, and its connections, outlive the instance in which they were opened, if others have them
--EXTENSIONS--
pdo_sqlite
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';

S\in_each_mode(<<<'PHP'
use Async\PooledPDO;

$file = tempnam(sys_get_temp_dir(), 'pool');
$given = new PooledPDO("sqlite:$file", max: 3);
$boots = new ArrayObject;
$server = S\application(function () use ($given, $file, $boots) {
    // The first instance makes it, for all: constants are the process's.
    defined('MADE') || define('MADE', new PooledPDO("sqlite:$file", max: 3));
    $boots[] = 'booted';
    return function () use ($given) {
        foreach (['of the script' => $given, 'of an instance' => MADE] as $which => $pool) {
            $pool->beginTransaction();
            usleep(random_int(0, 500));
            echo $pool->query('select 6 * 7')->fetchColumn(), $pool->inTransaction() ? '' : ": the transaction in that $which is lost", ' ';
            $pool->commit();
        }
    };
}, 6, ['instance_requests' => 2]);
echo json_encode(S\answers($server, 60, 8)), ' ';
S\stopped($server);
echo count($boots) >= 20 ? 'many boots, ' : count($boots) . ' boots, ';
foreach ([$given, MADE] as $pool) {
    echo count($pool->pool) <= 3 && $pool->pool->activeCount() === 0 ? $pool->query("select 42")->fetchColumn() : "wrong";
}
unlink($file);
PHP);
?>
--EXPECT--
without opcache: [0] {"42 42 ":60} many boots, 4242
with opcache: [0] {"42 42 ":60} many boots, 4242
with its JIT: [0] {"42 42 ":60} many boots, 4242
