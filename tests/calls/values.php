<?php
/*
 * What worker.php calls functions with: values, objects, streams, callbacks, and the files that some of these name.
 */
namespace Calls;

use Async;

/** How many shared values there are at most. */
const POOL = 220;

const INTEGERS = [0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 10, 13, 16, 32, 64, 100, -1, -2];
const FLOATS = [0.0, 1.0, 2.5, -1.5, 10.0, 0.1];
const TEXTS = ['', 'a', 'abc', 'x', 'b,c', "line\nline\n", '12', '0', 'UTF-8', 'en', '/(a)(b)?/', "\xff\x00\x80", '{"a":[1]}', 'key=value', 'Ünï©ode', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', '2020-01-02', '%s %d'];
const PATHS = ['a.txt', 'b.txt', 'folder/c.txt', 'folder', 'none', 'a.xml', 'a.gz', 'a.png', 'calls://x', 'calls://y', 'data:,abc', 'php://memory', 'php://temp', 'compress.zlib://a.gz', 'php://filter/read=string.toupper/resource=a.txt', 'new'];
const FOLDERS = ['.', 'folder', 'calls://folder'];
const ARCHIVES = ['a.phar', 'a.tar', 'new.tar'];
const NAMES_OF_FUNCTIONS = ['strlen', 'count', 'trim', 'is_int', 'strcmp', 'json_encode', 'Calls\given', 'iterator_to_array', 'Calls\Text::make', 'array_sum'];
const NAMES_OF_CLASSES = ['stdClass', 'ArrayObject', 'ArrayIterator', 'Calls\Text', 'Calls\Listed', 'DateTime', 'SplObjectStorage', 'Exception', 'Calls\Loaded', 'Calls\Card', 'Countable', 'None'];
const STATEMENTS = ['select 1', 'select slow(a) from t', 'select a, slow(a) from t', 'insert into t values (1)', 'select ? + slow(?)', 'select :a', 'begin', 'commit', 'rollback', 'update t set a = slow(a)', 'syntax error', 'create table if not exists u(b)', 'delete from t where a > 7', 'select a from t order by slow(a)', 'select whole(a) from t', 'select a from t order by a collate slowly'];
const XML = ['<a><b/></a>', '<r xmlns:p="u"><p:a i="1">text</p:a><b/><!-- c --><?p i?></r>', '<!DOCTYPE r [<!ENTITY e SYSTEM "a.txt"><!ELEMENT r ANY>]><r>&e;</r>', '<r', '',
    '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:php="http://php.net/xsl"><xsl:template match="/"><o><xsl:value-of select="php:function(\'Calls\given\', string(//b))"/></o></xsl:template></xsl:stylesheet>'];

/** Values for parameters of this name: patterns of names without underscores, in lower case. */
const NAMED = [
    'pattern|regex|regexp' => ['/a/', '/(a)(b)?/', '/./u', '/(?<n>\w+)/', '/[/', '*', '*.txt', 'a', '#^(a|b)*$#'],
    'filename|path|file|from|to|source|destination|target|oldpath|newpath|filepath|inputfilename|outputfilename|uri|imagefilename|localname|pathto.*|entryname|link|outfile|infile|savepath' => PATHS,
    'directory|dir|dirname|folder' => FOLDERS,
    'mode' => ['r', 'r+', 'w', 'w+', 'a', 'x', 'c+', 'rb', 'n', 'cl', 1, 2, 3, 4, 5, 7, 10],
    'encoding|charset|toencoding|fromencoding|inputencoding|outputencoding' => ['UTF-8', 'ISO-8859-1', 'ASCII', 'UTF-16', 'SJIS', 'none', 'pass'],
    'locale|displaylocale|language' => ['de', 'en_US', 'root', 'tr', 'x-none'],
    'algo|digestalgo|hashalgo|algorithm' => ['sha256', 'md5', 'crc32b', 'murmur3f', 'none'],
    'cipheralgo|cipher' => ['aes-128-cbc', 'aes-256-gcm', 'rijndael-128', 'none'],
    'json' => ['{"a":[1,{"b":null}]}', '[1,2]', '{', '"x"'],
    'datetime|date|time' => ['now', '2020-01-02 03:04', '+1 week', 'never', '@7'],
    'timezone|timezoneid' => ['UTC', 'Europe/Berlin', 'None/None'],
    'interval|duration' => ['P1D', 'PT1H', 'x'],
    'class|classname|objectorclass|rowclass|interface|fileclass|infoclass|nodeclass|iteratorclass' => NAMES_OF_CLASSES,
    'callback|functionname|function|handler' => NAMES_OF_FUNCTIONS,
    'method|methodname' => ['format', 'count', 'getIterator', '__toString', 'offsetGet', 'none'],
    'query|statement|sql' => STATEMENTS,
    'expression|xpath' => ['//b', '//a[@i]', "php:function('Calls\\given', string(.))", 'count(//*)', '///', "php:functionString('strlen', //b)"],
    'dsn' => ['sqlite::memory:', 'none:'],
    'connectionstring' => ['host=127.0.0.1 port=9'],
    'hostname|host|hosts|address|server' => ['127.0.0.1', '::1', '0'],
    'port' => [9],
    'url' => ['file:a.txt', 'a.txt', 'http://127.0.0.1:9/x?y=z#f', 'data:,abc'],
    'filtername' => ['calls.filter', 'string.rot13', 'convert.base64-encode', 'zlib.deflate', 'none'],
    'format' => ['Y-m-d', '%s', '%d %s', 'N', 'a*', 'yyyy', 'P1D', '%a %R'],
    'data|string|input|serialized|str|value|source|xml|content|text' => [...TEXTS, ...XML, 'a:1:{i:0;O:10:"Calls\Text":1:{i:0;s:1:"x";}}', 'a:2:{i:0;O:11:"ArrayObject":4:{i:0;i:0;i:1;a:1:{i:0;i:1;}i:2;a:0:{}i:3;N;}i:1;r:2;}', 'x:i:0;a:0:{};m:a:0:{}', 'a|i:1;'],
    'xsl|stylesheet|html' => XML,
    'namespace|namespaceuri' => ['u', 'http://php.net/xpath', ''],
    'prefix' => ['p', 'php', ''],
    'option|attribute|key|field' => [0, 1, 2, 3, 13, 42, 19913, 'a', 'b', 'name'],
    'extension|module' => ['standard', 'spl', 'none'],
    'seconds|timeout|microseconds|nanoseconds|usec|sec' => [0, 1],
    'type' => [1, 2, 3, 4, 5],
    'whence' => [0, 1, 2],
    'size' => [0, 1, 3, 7, 100],
    'flags' => [0, 1, 4, 8, 16],
    'operation' => [LOCK_SH | LOCK_NB, LOCK_EX | LOCK_NB, LOCK_UN],
    'protocol' => ['calls2', 'calls3'],
    'id' => ['id1', 'id2'],
];

function named(string $name): array
{
    static $known = [];
    if (!isset($known[$name])) {
        $known[$name] = [];
        foreach (NAMED as $names => $values) {
            if (\preg_match("/^($names)$/", $name)) {
                $known[$name] = $values;
                break;
            }
        }
    }
    return $known[$name];
}

enum Card: string
{
    case Red = 'r';
    case Black = 'b';
}

final class Text implements \JsonSerializable
{
    public function __construct(public string $text = 'text') {}
    public static function make(...$arguments): self { pause(); return new self; }
    public function __toString(): string { pause(); return $this->text; }
    public function __get($name) { pause(); return $this->text; }
    public function __set($name, $value) { pause(); }
    public function __isset($name) { pause(); return true; }
    public function __unset($name) { pause(); }
    public function __call($name, $arguments) { pause(); return $name; }
    public function __invoke(...$arguments) { pause(); return $arguments[0] ?? null; }
    public function __clone() { pause(); }
    public function __debugInfo() { pause(); return ['text' => $this->text]; }
    public function __serialize(): array { pause(); return [$this->text]; }
    public function __unserialize(array $data): void { pause(); $this->text = (string) ($data[0] ?? ''); }
    public function jsonSerialize(): mixed { pause(); return $this->text; }
}

final class Listed implements \Countable, \IteratorAggregate, \JsonSerializable, \ArrayAccess, \Serializable
{
    public function count(): int { pause(); return 3; }
    public function getIterator(): \Iterator { pause(); return (function () { foreach ([1, 'a', 3] as $key => $value) { pause(); yield $key => $value; } })(); }
    public function jsonSerialize(): mixed { pause(); return ['a' => new Text('x')]; }
    public function offsetExists(mixed $offset): bool { pause(); return true; }
    public function offsetGet(mixed $offset): mixed { pause(); return 1; }
    public function offsetSet(mixed $offset, mixed $value): void { pause(); }
    public function offsetUnset(mixed $offset): void { pause(); }
    public function serialize() { pause(); return 'x'; }
    public function unserialize($data) { pause(); }
    public function __serialize(): array { pause(); return []; }
    public function __unserialize(array $data): void { pause(); }
}

/** One that others let go in the middle of something. */
final class Ends
{
    public function __destruct() { pause(); }
}

final class Wrapper
{
    public $context;
    private int $at = 0;
    public function stream_open($path, $mode, $options, &$opened) { pause(); return true; }
    public function stream_read($count) { pause(); return $this->at++ < 5 ? "line $this->at\n" : ''; }
    public function stream_write($data) { pause(); return \strlen($data); }
    public function stream_eof() { pause(); return $this->at >= 5; }
    public function stream_seek($offset, $whence) { pause(); $this->at = 0; return true; }
    public function stream_tell() { return 0; }
    public function stream_stat() { pause(); return ['size' => 10, 'mode' => 0100644]; }
    public function stream_flush() { pause(); return true; }
    public function stream_lock($operation) { pause(); return true; }
    public function stream_truncate($size) { pause(); return true; }
    public function stream_metadata($path, $option, $value) { pause(); return true; }
    public function stream_set_option($option, $a, $b) { pause(); return false; }
    public function stream_cast($as) { pause(); return false; }
    public function stream_close() { pause(); }
    public function url_stat($path, $flags) { pause(); return ['size' => 10, 'mode' => \str_contains($path, 'folder') ? 0040755 : 0100644]; }
    public function dir_opendir($path, $options) { pause(); $this->at = 0; return true; }
    public function dir_readdir() { try { pause(); } catch (\Throwable) {} return $this->at++ < 3 ? "file$this->at" : false; }
    public function dir_rewinddir() { pause(); $this->at = 0; return true; }
    public function dir_closedir() { pause(); return true; }
    public function unlink($path) { pause(); return true; }
    public function rename($from, $to) { pause(); return true; }
    public function mkdir($path, $mode, $options) { pause(); return true; }
    public function rmdir($path, $options) { pause(); return true; }
}

final class Filter extends \php_user_filter
{
    public function filter($in, $out, &$consumed, bool $closing): int
    {
        while ($bucket = \stream_bucket_make_writeable($in)) {
            pause();
            $bucket->data = \strtoupper($bucket->data);
            $consumed += $bucket->datalen;
            \stream_bucket_append($out, $bucket);
        }
        return PSFS_PASS_ON;
    }
    public function onCreate(): bool { pause(); return true; }
    public function onClose(): void { pause(); }
}

final class Sessions implements \SessionHandlerInterface, \SessionUpdateTimestampHandlerInterface, \SessionIdInterface
{
    public function open(string $path, string $name): bool { pause(); return true; }
    public function close(): bool { pause(); return true; }
    public function read(string $id): string|false { pause(); return 'a|i:1;'; }
    public function write(string $id, string $data): bool { pause(); return true; }
    public function destroy(string $id): bool { pause(); return true; }
    public function gc(int $lifetime): int|false { pause(); return 1; }
    public function create_sid(): string { try { pause(); } catch (\Throwable) {} return 'id1'; }
    public function validateId(string $id): bool { pause(); return true; }
    public function updateTimestamp(string $id, string $data): bool { pause(); return true; }
}

final class Parser
{
    public static function given(...$arguments) { pause(); return (string) ($arguments[0] ?? ''); }
}

function given(...$arguments)
{
    pause();
    return \is_scalar($arguments[0] ?? null) ? $arguments[0] : 'given';
}

/** In the middle of a call: the coroutine is suspended, or makes another call; without coroutines it always does. */
function pause(): void
{
    global $flows, $switches, $made, $calls;
    $flow = $flows[ASYNC ? Async\currentCoroutine()?->getId() : 0] ?? null;
    if (!$flow || ++$flow->pausing > 60) {
        // Some loop for as long as nobody stops them.
        if ($flow && $flow->pausing > 1000 && $flow->pausing < 1100) {
            throw new \Exception('enough');
        }
        return;
    }
    $n = $flow->below(100);
    if (!ASYNC || $n < 15) {
        if ($flow->depth < 4 && $flow->depth > 0) {
            call($flow);
        }
        return;
    }
    $flow->pauses++;
    if ($n < 80) {
        Async\suspend();
    } elseif ($n < 92) {
        Async\delay($flow->below(2));
    } elseif ($n < 98) {
        [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $job = Async\spawn(fn() => \fwrite($b, "words\n"));
        \fgets($a);
        Async\await($job);
    } elseif ($flow->others) {
        $flow->of($flow->others)->cancel();
        Async\suspend();
    }
}

function callbacks(): array
{
    static $callbacks;
    return $callbacks ??= [
        function (...$arguments) { pause(); return $arguments[0] ?? null; },
        function (...$arguments) { pause(); return \count($arguments); },
        function (...$arguments) { pause(); return true; },
        function (...$arguments) { pause(); return false; },
        function (...$arguments) { pause(); return 'text'; },
        function (...$arguments) { pause(); echo 'out'; },
        function (...$arguments) { pause(); throw new \Exception('thrown'); },
        function (...$arguments) { pause(); return ($arguments[0] ?? null) <=> ($arguments[1] ?? null); },
        function (...$arguments) { pause(); return [1, new Text, ...\array_slice($arguments, 0, 1)]; },
        function (&...$arguments) { pause(); foreach ($arguments as &$argument) $argument = 7; return 1; },
        function (...$arguments) { pause(); yield 1; pause(); yield 2; },
        \strlen(...), new Text,
    ];
}

function arrays(): array
{
    static $arrays;
    return $arrays ??= [[], [1, 2, 3], [3, 1, 2], ['a' => 1, 'b' => [2]], ['x', 'y'], ['b', 'a', 'c', 'a'], [new Text('b'), new Text('a'), new Text('c')], [new Listed, 'k' => new Text],
        [[1, 2], [3, 4]], [2.5, '7', null, true], ['a.txt', 'b.txt'], [new Text('12'), 3, '5'], ['Calls\given', 'strlen'], [callbacks()[0], callbacks()[1]],
        ['options' => callbacks()[0], 'filter' => FILTER_CALLBACK], ['a' => FILTER_VALIDATE_INT], ['http' => ['method' => 'GET']], [new \ArrayObject([1])], [[new Text, 'format'], [new Text('x'), 1]]];
}

/** The files that names in TEXTS and PATHS stand for, and what belongs to the process. */
function prepare(): void
{
    files();
    \stream_wrapper_register('calls', Wrapper::class);
    \stream_filter_register('calls.filter', Filter::class);
    \session_set_save_handler(new Sessions, false);
    \ini_set('session.use_cookies', '0');
    \ini_set('session.cache_limiter', '');
    \spl_autoload_register(function (string $class): void {
        pause();
        if ($class === 'Calls\Loaded' && !\class_exists($class, false)) {
            eval('namespace Calls; class Loaded implements \ArrayAccess { public function offsetExists($o) { return true; } public function offsetGet($o) {} public function offsetSet($o, $v) {} public function offsetUnset($o) {} }');
        }
    });
}

/** In a folder of their own: what was done to those before may be anything. */
function files(): void
{
    static $home, $n = 0;
    $home ??= \getcwd();
    \mkdir($folder = "$home/" . ++$n);
    \chdir($folder);
    @\mkdir('folder');
    \file_put_contents('a.txt', "some\nlines,of\n\"text\" 12\n");
    \file_put_contents('b.txt', \str_repeat("more text\n", 2000));
    \file_put_contents('folder/c.txt', "c\n");
    \file_put_contents('a.xml', XML[1]);
    \file_put_contents('a.gz', \gzencode("compressed\nlines\n"));
    \file_put_contents('a.png', \base64_decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='));
    foreach (['a.tar' => 'PharData', 'a.phar' => 'Phar'] as $name => $class) {
        try {
            if (\class_exists($class) && !\file_exists($name)) {
                $archive = new $class($name);
                $archive['one.txt'] = "one\n";
                $archive['sub/two.txt'] = "two\n";
            }
        } catch (\Throwable) {
        }
    }
}

/** Makes the shared values anew. */
function refill(): void
{
    global $pool, $shared, $base, $flows;
    foreach ($flows as $flow) {
        $flow->pausing = 0;
    }
    \set_exception_handler(null);
    try { $pool = []; } catch (\Throwable) {}
    try { \gc_collect_cycles(); } catch (\Throwable) {}
    try { files(); } catch (\Throwable) {}
    \set_error_handler(function () { try { pause(); } catch (\Throwable) {} return true; });
    try { $shared = []; } catch (\Throwable) {}
    $shared = [null, [3, 1, 2], ['b' => 1, 'a' => new Text], 'text', 0, [[1, 2], [0]], new \ArrayObject([3, 1]), [new Text('b'), new Text('a')]];
    $memory = \fopen('php://memory', 'w+');
    \fwrite($memory, "some\nlines\nof text\n");
    \rewind($memory);
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    \stream_set_blocking($a, false);
    \stream_set_blocking($b, false);
    \fwrite($b, "words\n");
    $filtered = \fopen('b.txt', 'r+');
    \stream_filter_append($filtered, 'calls.filter');
    $values = [$memory, $a, $b, $filtered, \fopen('calls://x', 'r+'), \fopen('php://temp', 'w+'), \fopen('a.txt', 'r+'), \gzopen('a.gz', 'r'), \opendir('folder'), \opendir('calls://folder'), \stream_context_create(),
        \stream_context_create(['ssl' => ['verify_peer' => false]], ['notification' => callbacks()[0]]),
        new Text('text'), new Text('12'), new Listed, new Ends, new \ArrayObject([3, 1, 2]), new \ArrayObject(new Text), new \stdClass, new \SplObjectStorage, new \SplFixedArray(3), new \ArrayIterator([new Text('x'), new Text('a')]),
        new \DateTime('2020-01-01'), new \DateTimeZone('UTC'), \hash_init('sha1'), Card::Red, new \Exception('e'),
        new \Fiber(function (...$arguments) { pause(); \Fiber::suspend(1); pause(); return 2; }),
        (function () { try { pause(); yield 1; pause(); yield from [2, 3]; pause(); } finally { pause(); } })(),
        ...callbacks()];
    $heap = new class extends \SplMinHeap { protected function compare($a, $b): int { pause(); return $a <=> $b; } };
    foreach ([3, 1, 2] as $n) $heap->insert($n);
    $values[] = $heap;
    $makes = [
        'PDO' => function () {
            $db = new \PDO('sqlite::memory:');
            $db->exec('create table t(a)');
            $db->exec('insert into t values (1), (2), (3)');
            $db->sqliteCreateFunction('slow', function ($x = null) { pause(); return $x; });
            $db->sqliteCreateAggregate('whole', function ($context, $row, $x = null) { pause(); return $row; }, function ($context, $rows) { pause(); return $rows; });
            $db->sqliteCreateCollation('slowly', function ($a, $b) { pause(); return $a <=> $b; });
            return [$db, $db->query('select slow(a) from t'), $db->prepare('select ? + slow(?)'), $db->query('select a from t order by a collate slowly')];
        },
        'SQLite3' => function () {
            $db = new \SQLite3(':memory:');
            $db->exec('create table t(a); insert into t values (1), (2), (3)');
            $db->createFunction('slow', function ($x = null) { pause(); return $x; });
            $db->createAggregate('whole', function ($context, $row, $x = null) { pause(); return $row; }, function ($context, $rows) { pause(); return $rows; });
            $db->createCollation('slowly', function ($a, $b) { pause(); return $a <=> $b; });
            return [$db, $db->query('select slow(1) union all select slow(2)'), $db->prepare('select slow(?)'), $db->query('select a from t order by a collate slowly')];
        },
        'DOMDocument' => function () {
            $document = new \DOMDocument;
            $document->loadXML('<r><a i="1"/><b>text</b></r>');
            $xpath = new \DOMXPath($document);
            $xpath->registerNamespace('php', 'http://php.net/xpath');
            $xpath->registerPhpFunctions();
            return [$document, $xpath, $document->documentElement, \simplexml_import_dom($document)];
        },
        'XSLTProcessor' => function () {
            $sheet = new \DOMDocument;
            $sheet->loadXML(XML[5]);
            $processor = new \XSLTProcessor;
            $processor->registerPHPFunctions();
            $processor->importStylesheet($sheet);
            return [$processor, $sheet];
        },
        'XMLReader' => function () { $reader = new \XMLReader; $reader->open('a.xml'); return [$reader, \XMLReader::XML(XML[1])]; },
        'XMLWriter' => function () { $writer = new \XMLWriter; $writer->openMemory(); $other = new \XMLWriter; $other->openUri('calls://x'); return [$writer, $other]; },
        'XMLParser' => function () {
            $parser = \xml_parser_create();
            \xml_set_element_handler($parser, function () { pause(); }, function () { pause(); });
            \xml_set_character_data_handler($parser, function () { pause(); });
            return [$parser];
        },
        'Collator' => fn() => [new \Collator('de'), new \NumberFormatter('de', \NumberFormatter::DECIMAL), \IntlBreakIterator::createWordInstance('de')],
        'ZipArchive' => function () { $zip = new \ZipArchive; $zip->open('a.zip', \ZipArchive::CREATE); $zip->addFromString('a', 'text'); return [$zip]; },
        'GMP' => fn() => [\gmp_init(12)],
        'CurlHandle' => function () {
            $all = [\curl_multi_init(), \curl_share_init()];
            foreach (['a.txt', 'b.txt'] as $file) {
                $all[] = $handle = \curl_init('file://' . \realpath($file));
                \curl_setopt_array($handle, [CURLOPT_PROTOCOLS => CURLPROTO_FILE, CURLOPT_NOPROGRESS => false, CURLOPT_PROGRESSFUNCTION => function () { pause(); return 0; },
                    CURLOPT_WRITEFUNCTION => function ($handle, $data) { pause(); return \strlen($data); }, CURLOPT_HEADERFUNCTION => function ($handle, $data) { pause(); return \strlen($data); }]);
            }
            return $all;
        },
        'Socket' => function () { \socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $pair); foreach ($pair as $one) \socket_set_nonblock($one); \socket_write($pair[1], 'words'); return $pair; },
        'finfo' => fn() => [new \finfo],
        'GdImage' => fn() => [\imagecreatetruecolor(7, 10), \imagecreate(5, 5)],
        'Imagick' => function () { $image = new \Imagick; $image->newImage(7, 10, 'red'); return [$image]; },
        'tidy' => fn() => [\tidy_parse_string('<p>text')],
        'Memcached' => fn() => [new \Memcached],
        'SoapClient' => fn() => [new class(null, ['location' => 'http://127.0.0.1:9/', 'uri' => 'u', 'trace' => true]) extends \SoapClient {
            public function __doRequest(string $request, string $location, string $action, int $version, bool $oneWay = false): ?string
            {
                pause();
                return '<?xml version="1.0"?><e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><r><return>7</return></r></e:Body></e:Envelope>';
            }
        }],
        'SoapServer' => function () { $server = new \SoapServer(null, ['uri' => 'u']); $server->addFunction('Calls\given'); return [$server]; },
        'PharData' => fn() => [new \PharData('a.tar'), new \Phar('a.phar')],
        'SplFileObject' => fn() => [new \SplFileObject('b.txt'), new \SplFileObject('calls://x'), new \SplTempFileObject, new \RecursiveDirectoryIterator('folder')],
        'EnchantBroker' => fn() => [\enchant_broker_init()],
        'Shmop' => fn() => [\shmop_open(70, 'c', 0600, 100)],
        'SysvSharedMemory' => fn() => [\shm_attach(71, 1000)],
        'SysvSemaphore' => fn() => [\sem_get(72)],
        'SysvMessageQueue' => fn() => [\msg_get_queue(73)],
        'PSpell\Config' => fn() => [\pspell_config_create('en')],
        'XmlRpcServer' => function () { $server = \xmlrpc_server_create(); \xmlrpc_server_register_method($server, 'm', 'Calls\given'); return [$server]; },
        'LDAP\Connection' => fn() => [\ldap_connect('ldap://127.0.0.1:9')],
        'MongoDB\Driver\Manager' => fn() => [new \MongoDB\Driver\Manager('mongodb://127.0.0.1:9', ['serverSelectionTimeoutMS' => 10])],
    ];
    foreach ($makes as $class => $make) {
        if (\class_exists($class)) { // of an extension that is not there are neither classes nor functions
            try { $values = [...$values, ...\array_filter($make(), fn($value) => $value !== false)]; } catch (\Throwable $e) { if (\getenv('CALLS_REFUSED')) \fwrite(STDERR, "no $class: {$e->getMessage()}\n"); }
        }
    }
    $pool = $values;
    $base = \min(\count($pool), POOL - 40);
}
