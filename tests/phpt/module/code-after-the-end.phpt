--TEST--
What a request's last code makes, after the module's own end of the request, is not used by the next request
--EXTENSIONS--
session
--FILE--
<?php
require __DIR__ . '/kit.inc';
T\work_in(['page.php' => <<<'CODE'
    <?php
    use function Async\Task\{getTaskId, stackedCoroutine};

    if (isset($_GET['seen'])) return readfile('seen');
    $use = function () {
        $scheduler = new Async\Task\Scheduler();
        $seen = [];
        $scheduler->newTask((function () use (&$seen) { $seen[] = yield getTaskId(); })());
        $scheduler->run();
        $stacked = stackedCoroutine((function () { yield 'stacked'; })());
        return $seen[0] . ' ' . $stacked->current();
    };
    class Sessions implements SessionHandlerInterface
    {
        public function open(string $path, string $name): bool { return true; }
        public function close(): bool { return true; }
        public function read(string $id): string { return ''; }
        // PHP calls it when ext/session ends, which is loaded before.
        public function write(string $id, string $data): bool
        {
            getTaskId();
            file_put_contents('seen', stackedCoroutine((function () { yield 'written '; })())->current(), FILE_APPEND);
            return true;
        }
        public function destroy(string $id): bool { return true; }
        public function gc(int $lifetime): int { return 0; }
    }
    session_set_save_handler(new Sessions, false);
    session_id('one');
    session_start(['use_cookies' => false, 'cache_limiter' => '']);
    echo $use();
    CODE]);

$server = new T\BuiltInServer();
for ($i = 0; $i < 3; $i++) {
    echo $server->get('page.php'), "\n";
}
// The server handles one request after the other.
echo $server->get('page.php?seen'), "\n";
$server->end();
?>
--EXPECT--
1 stacked
1 stacked
1 stacked
written written written 
