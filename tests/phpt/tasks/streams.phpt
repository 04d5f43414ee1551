--TEST--
Waits for streams: closed ones, reused descriptors, data in the buffer, files, and streams without a descriptor
--INI--
async.seed=0
--FILE--
<?php
use Async\Task\Scheduler;
use function Async\Task\{killTask, waitForRead, waitForWrite};

require __DIR__ . '/kit.inc';

function pair(): array
{
    return stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
}

function reader($stream): Generator
{
    try {
        yield waitForRead($stream);
        echo 'reads ', json_encode(fread($stream, 100)), "\n";
    } catch (Async\AsyncException $e) {
        echo said($e), "\n";
    }
}

$s = new Scheduler;
echo "-- closed while tasks wait, and the number of its descriptor is used again\n";
[$a, $b] = pair();
$s->newTask(reader($a));
$s->newTask(reader($a));
$s->newTask((function() use ($a) {
    yield;
    fclose($a);
    [$c, $d] = pair();
    fwrite($d, 'for the new one');
    yield reader($c);
})());
$s->run();

echo "-- refused at once\n";
foreach ([$a, 5, null, stream_context_create()] as $none) {
    try {
        waitForRead($none);
    } catch (TypeError $e) {
        echo $e->getMessage(), "\n";
    }
}

echo "-- data in PHP's buffer\n";
[$a, $b] = pair();
fwrite($b, "one\ntwo\n");
$s->newTask((function() use ($a) {
    yield waitForRead($a);
    echo fgets($a);
    yield waitForRead($a);
    echo fgets($a);
})());
$s->run();

echo "-- the end of a stream, and one that can be written\n";
fclose($b);
$s->newTask(reader($a));
[$a, $b] = pair();
$s->newTask((function() use ($a) { yield waitForWrite($a); echo "can be written\n"; })());
$s->run();

echo "-- files are ready; others have no descriptor\n";
$s->newTask((function() {
    $file = fopen(__FILE__, 'r');
    yield waitForRead($file);
    yield waitForWrite($file);
    echo "ready\n";
})());
$s->newTask(reader(fopen('php://memory', 'r+')));
$s->run();

echo "-- user wrappers\n";
final class Wrapper
{
    public $context;
    public function stream_open($path, $mode, $options, &$opened) { return true; }
    public function stream_eof() { return false; }
    public function stream_read($count) { return ''; }
    public function stream_close() {}
    public function stream_cast($as)
    {
        global $behind;
        if (!$behind) throw new DomainException('of stream_cast()');
        return $behind;
    }
}
stream_wrapper_register('wrapper', 'Wrapper');
$stream = fopen('wrapper://', 'r');
$s->newTask((function() use ($stream) {
    try {
        yield waitForRead($stream);
    } catch (DomainException $e) {
        echo said($e), "\n";
    }
})());
$s->run();
[$behind, $b] = pair();
$s->newTask((function() use ($stream) { yield waitForRead($stream); echo "ready\n"; })());
$s->newTask((function() use ($b) { yield; fwrite($b, 'x'); })());
$s->run();

echo "-- killed while they wait\n";
[$a, $b] = pair();
$s->newTask((function() use ($a) { try { yield waitForRead($a); echo "WRONG: goes on\n"; } finally { echo "finally\n"; } })());
$s->newTask((function() { yield; yield killTask(12); })());
$s->run();
?>
--EXPECT--
-- closed while tasks wait, and the number of its descriptor is used again
reads "for the new one"
Async\AsyncException: The stream was closed while a task waited for it
Async\AsyncException: The stream was closed while a task waited for it
-- refused at once
Async\Task\waitForRead(): Argument #1 ($socket) must be an open stream resource
Async\Task\waitForRead(): Argument #1 ($socket) must be of type resource, int given
Async\Task\waitForRead(): Argument #1 ($socket) must be of type resource, null given
Async\Task\waitForRead(): Argument #1 ($socket) must be an open stream resource
-- data in PHP's buffer
one
two
-- the end of a stream, and one that can be written
reads ""
can be written
-- files are ready; others have no descriptor
Async\AsyncException: Cannot wait for this stream: it has no descriptor that could be polled
ready
-- user wrappers
DomainException: of stream_cast()
ready
-- killed while they wait
finally
