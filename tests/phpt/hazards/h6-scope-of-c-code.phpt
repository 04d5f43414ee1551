--TEST--
H6 C code that waits while it writes to a property lends its scope to nobody
--EXTENSIONS--
posix
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';
T\work_in();
posix_mkfifo('fifo', 0600);

final class Failed extends Exception
{
    public function __construct()
    {
        // what the property has had so far ends as the engine writes to it, and waits for its process
        $this->message = popen('exec timeout 30 cat fifo 2>/dev/null', 'r');
        parent::__construct('text');
    }
}

$parked = false;
$beside = spawn(function() use (&$parked) {
    while (!$parked) suspend();
    $e = new LogicException('protected');
    return $e->message;
});
T\begun($beside);
$making = spawn(fn() => (new Failed)->getMessage());
T\begun($making);
$parked = true;
echo T\failure($beside)?->getMessage() ?? $beside->getResult(), "\n";
T\check('it waits', !$making->isCompleted());
fclose(fopen('fifo', 'w'));
echo await($making), "\n";
?>
--EXPECT--
Cannot access protected property LogicException::$message
it waits: yes
text
