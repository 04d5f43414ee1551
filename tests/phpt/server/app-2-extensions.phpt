--TEST--
APP-2 what extensions keep for a request: default context, libxml's loader and context, the errors of the last calls, the cache of stat()
--EXTENSIONS--
dom
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/server.inc';
require getenv('SPINDLE_ROOT') . '/tests/phpt/server/instances.inc';
use function Async\{await, spawn, spawnInstance};

$dir = T\work_in();
foreach (['one' => 1000, 'two' => 20] as $name => $size) {
    mkdir($name);
    file_put_contents("$name/invoice.pdf", str_repeat('x', $size));
}
// Requests with the header that they were made with.
$target = stream_socket_server('tcp://127.0.0.1:0');
$url = 'http://' . stream_socket_get_name($target, false) . '/';
$echo = spawn(function () use ($target) {
    while ($client = @stream_socket_accept($target)) {
        $head = fread($client, 8192);
        preg_match('~^X-Of: (.*?)\r~m', $head, $of);
        fwrite($client, "HTTP/1.0 200 OK\r\n\r\n<of>" . ($of[1] ?? 'nobody') . '</of>');
        fclose($client);
    }
});
function fetched(): array
{
    global $url;
    $document = new DOMDocument;
    $document->load($url);
    return [strip_tags(file_get_contents($url)), $document->textContent];
}
function loads(): string
{
    $document = new DOMDocument;
    @$document->loadXML('<!DOCTYPE a SYSTEM "x.dtd"><a/>', LIBXML_DTDLOAD);
    return Loader::$called;
}
class Loader { public static string $called = 'none'; }
function loader(string $name): Closure
{
    return function ($public, $system) use ($name) {
        if (str_starts_with($system, 'http:')) return $system;
        Loader::$called = $name;
        return null;
    };
}
function headed(string $of): array { return ['http' => ['header' => "X-Of: $of"]]; }

stream_context_set_default(headed('script'));
libxml_set_external_entity_loader(loader('script'));
$GLOBALS['here'] = $dir;

$boot = function (int $instance): callable {
    if ($instance === 1) {
        stream_context_set_default(headed('boot'));
        libxml_set_external_entity_loader(loader('boot'));
    }
    return function () use ($instance) {
        Loader::$called = 'none';
        $begins = $instance === 1 ? 'boot' : 'script';
        $before = [...fetched(), loads()] === [$begins, $begins, $begins];
        $of = $_GET['of'] ?? null;
        if ($of !== null) {
            stream_context_set_default(headed($of));
            libxml_set_streams_context(stream_context_create(headed("$of's documents")));
            libxml_set_external_entity_loader(loader($of));
            chdir("{$GLOBALS['here']}/$of");
            json_decode($of === 'one' ? '{' : '1');
            preg_match($of === 'one' ? '/(?:\D+|<\d+>)*[!?]/' : '/a/', 'foobar foobar foobar');
            date_create($of === 'one' ? 'nonsense' : 'now');
        }
        usleep(50_000);
        $errors = [json_last_error(), preg_last_error(), (date_get_last_errors() ?: ['error_count' => 0])['error_count']];
        $size = $of !== null ? filesize('invoice.pdf') : 0;
        usleep(50_000);
        $after = [...fetched(), loads()];
        echo json_encode([$before, $of === null ? array_unique($after) === [$begins] : $after, $errors, $size, $of !== null ? filesize('invoice.pdf') : 0]), "\n";
    };
};
$server = S\application($boot, 2, eager: true);
$make = fn(array $paths) => implode('', S\sorted(T\all(array_map(fn($path) => spawn(S\get(...), $server, $path), $paths))));
echo $make(['/?of=one', '/?of=two']), $make(['/', '/']);
S\stopped($server);
// The script has what it had, and so has one that begins now.
echo json_encode([...fetched(), loads()]), "\n";
echo json_encode(await(spawnInstance(function () { stream_context_set_default(headed('alone')); return [...fetched(), loads()]; }))), "\n";
echo json_encode(fetched()), "\n";
fclose($target);
array_map('unlink', glob('*/invoice.pdf'));
?>
--EXPECT--
[true,["one","one's documents","one"],[4,2,1],1000,1000]
[true,["two","two's documents","two"],[0,0,0],20,20]
[true,true,[0,0,0],0,0]
[true,true,[0,0,0],0,0]
["script","script","script"]
["alone","alone","script"]
["script","script"]
