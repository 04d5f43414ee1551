--TEST--
IO-8 what C code uses without having it as an argument is closed, opened anew or removed in its turn: a parameter's stream, cURL's file, a filter, a reader
--SKIPIF--
<?php foreach (['pdo_sqlite', 'curl', 'xmlreader'] as $name) if (!extension_loaded($name)) die("skip needs ext/$name"); ?>
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
use Async\Channel;
use function Async\{await, spawn};

T\work_in();
/** Suspends in the middle of each read until the test goes on. */
final class Slow
{
    public $context;
    private array $pieces = ['<a>data', '</a>'];
    public function stream_open() { return true; }
    public function stream_stat() { return []; }
    public function url_stat() { return []; }
    public function stream_close() {}
    public function stream_read($n) { $this->pieces && $GLOBALS['goes_on']->recv(); return array_shift($this->pieces) ?? ''; }
    public function stream_eof() { return $this->pieces === []; }
}
final class SlowFilter extends php_user_filter
{
    public function filter($in, $out, &$consumed, $closing): int
    {
        while ($bucket = stream_bucket_make_writeable($in)) {
            $closing || $GLOBALS['goes_on']->recv();
            $consumed += $bucket->datalen;
            stream_bucket_append($out, $bucket);
        }
        return PSFS_PASS_ON;
    }
}
stream_wrapper_register('slow', 'Slow');
stream_filter_register('slow', 'SlowFilter');
/** What is freed, others have then. */
function takes_memory(): array
{
    for ($size = 1; $size < 1000; $size += 8) for ($i = 0; $i < 20; $i++) $taken[] = str_repeat("\x7f", $size);
    return $taken;
}
/** Calls both, the second in the middle of the first. */
function both(string $what, Closure $uses, Closure $closes): void
{
    global $goes_on;
    $goes_on = new Channel(4);
    T\parked($using = spawn($uses));
    $closing = spawn(function () use ($closes) { $closes(); return takes_memory(); });
    for ($i = 0; $i < 5; $i++) Async\suspend();
    echo "$what: ", $closing->isCompleted() ? 'at once' : 'in its turn';
    for ($i = 0; $i < 4; $i++) $goes_on->send($i); // the last ones are for what comes before the next one
    try {
        echo ', ', json_encode(await($using)), "\n";
    } catch (Throwable $e) {
        echo ', ', $e::class, "\n";
    }
    await($closing);
}

$db = new PDO('sqlite::memory:');
$db->exec('create table t (a blob)');
$stream = fopen('slow://', 'r');
$insert = $db->prepare('insert into t values (?)');
$insert->bindParam(1, $stream, PDO::PARAM_LOB);
both('a bound stream', fn() => $insert->execute(), fn() => fclose($stream));

$file = tmpfile();
$filter = stream_filter_append($file, 'slow', STREAM_FILTER_WRITE);
both('a filter', fn() => fwrite($file, 'abc'), fn() => stream_filter_remove($filter));

foreach (['open' => ['slow://other'], 'XML' => ['<z/>']] as $method => $arguments) {
    $reader = new XMLReader();
    $reader->open('slow://');
    both("a reader's $method()", fn() => @$reader->read(), fn() => $reader->$method(...$arguments));
}

// The end of what cURL waits in is that of the transfer.
[$server, $address] = T\listener();
$body = fopen('body', 'w');
$curl = curl_init(str_replace("tcp:", "http:", $address));
curl_setopt($curl, CURLOPT_FILE, $body);
$transfer = spawn(curl_exec(...), $curl);
$client = stream_socket_accept($server, 600);
while (trim(fgets($client)) !== '');
fwrite($client, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" . str_repeat('x', 10_000));
T\until(function () { clearstatcache(); return filesize('body') > 0; });
fclose($body);
takes_memory();
echo 'a file of cURL: ', json_encode([$transfer->isCompleted(), await($transfer)]), "\n";
?>
--EXPECT--
a bound stream: in its turn, true
a filter: in its turn, 3
a reader's open(): in its turn, true
a reader's XML(): in its turn, true
a file of cURL: [true,false]
