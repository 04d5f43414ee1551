<?php
/*
 * Calls functions of PHP's extensions at random, from several coroutines that share what they are called with.
 *
 *   php worker.php SEED CALLS
 *
 * What is called with what is drawn from SEED alone. It prints each call before it is made to the file that the variable
 * CALLS_LOG names, so that a crash names its call, and at the end how many calls there were and how many were suspended.
 */
namespace Calls;

use Async;

[, $seed, $calls] = $argv + [1 => 1, 2 => 1000];
\mt_srand((int) $seed);
\error_reporting(0);
\ini_set('display_errors', '0');
\ob_start(fn() => '');

/** Not called: they end or leave the process, change it for good, reach out of it, or wait for a person. */
const LEFT_OUT = '/^(exit|die|pcntl_|posix_(kill|set|initgroups|mknod|mkfifo|isatty)|sleep|usleep|time_nanosleep|time_sleep_until'
    . '|set_time_limit|ignore_user_abort|dl|readline|chroot|chdir|exec|shell_exec|system|passthru|popen|proc_|mail|mb_send_mail'
    . '|syslog|openlog|error_log|ini_|unlink|rename|rmdir|mkdir|chmod|chown|chgrp|lch|link|symlink|touch|copy|tempnam|tmpfile'
    . '|file_put_contents|fopen|opendir|dir$|move_uploaded|ftok|shm|sem_|msg_|shmop|header|setcookie|setraw|http_|session_|ob_|output_'
    . '|flush|fscanf|stream_wrapper|stream_register|gc_|opcache_|apcu?_|cli_set|register_|set_error|set_exception|restore_|spl_autoload'
    . '|putenv|setlocale|mt_srand|srand|umask|debug_zval|phpinfo|phpcredits|highlight|show_source|php_strip|gethost|dns_|checkdns|getmx'
    . '|fsockopen|pfsockopen|ftp_|ldap_|imap_|snmp|ssh2_|curl_exec|curl_multi_select|mysqli_(connect|real)|pg_p?connect|odbc_|dba_|bzopen|gzopen|readgz|gzfile'
    . '|stream_(select|socket_client|socket_server|isatty)|socket_(select|connect|accept|read|recv|create_listen|bind)|net_get|forward_static|assert'
    . '|finfo_set_flags|array_fill|range|str_repeat|str_pad|array_pad|hash_pbkdf2|password_hash|crypt|openssl_pkey_new|openssl_csr_new|openssl_dh|sodium_crypto_pwhash|image|iptcembed'
    . '|memory_|xdebug_|pcov|tideways|excimer|uopz|readline_|ffi|textdomain|bindtextdomain|trigger_error|user_error|array_walk_rec|define$|class_alias|yaml_emit|enchant_|pspell_|stomp|libvirt|oauth|remctl|gnupg)/i';
const CLASSES_LEFT_OUT = '/^(Async|Reflection|FFI|Fiber$|Phar|Directory|SplFileObject|SplTemp|SplFileInfo|FilesystemIterator|RecursiveDirectory|Glob|Generator|InternalIterator|mysqli|PDO$|Redis|Memcache|AMQP|MongoDB|Mongo|Soap|SNMP|ZMQ|Imagick|Gearman|Solr|Stomp|OAuth|http|XMLReader|CURLFile|SessionHandler|Closure$|WeakMap|PDORow|php_user_filter|Excimer|LuaSandbox|Tideways)/i';

final class Text
{
    public function __construct(public string $text) {}
    public function __toString(): string { pause(); return $this->text; }
    public function __get($name) { pause(); return $this->text; }
    public function __call($name, $arguments) { pause(); return $name; }
    public function __serialize(): array { pause(); return [$this->text]; }
    public function __unserialize(array $data): void { pause(); $this->text = (string) ($data[0] ?? ''); }
}
final class Listed implements \Countable, \IteratorAggregate, \JsonSerializable, \ArrayAccess
{
    public function count(): int { pause(); return 3; }
    public function getIterator(): \Iterator { pause(); return new \ArrayIterator([1, 2, 3]); }
    public function jsonSerialize(): mixed { pause(); return ['a' => new Text('x')]; }
    public function offsetExists(mixed $offset): bool { pause(); return true; }
    public function offsetGet(mixed $offset): mixed { pause(); return 1; }
    public function offsetSet(mixed $offset, mixed $value): void { pause(); }
    public function offsetUnset(mixed $offset): void { pause(); }
}
final class Wrapper
{
    public $context;
    private int $at = 0;
    public function stream_open($path, $mode, $options, &$opened) { pause(); return true; }
    public function stream_read($count) { pause(); return $this->at++ < 5 ? "line $this->at\n" : ''; }
    public function stream_write($data) { pause(); return \strlen($data); }
    public function stream_eof() { return $this->at >= 5; }
    public function stream_seek($offset, $whence) { pause(); $this->at = 0; return true; }
    public function stream_tell() { return 0; }
    public function stream_stat() { pause(); return ['size' => 10]; }
    public function stream_flush() { pause(); return true; }
    public function stream_close() { pause(); }
    public function url_stat($path, $flags) { pause(); return ['size' => 10, 'mode' => 0100644]; }
}
\stream_wrapper_register('calls', Wrapper::class);

$paused = 0;
function pause(): void
{
    if (\function_exists('Async\suspend') && \Async\currentCoroutine()->getId() > 1) {
        $GLOBALS['paused']++;
        \mt_rand(0, 3) ? Async\suspend() : Async\delay(0);
    }
}

/** What all coroutines share. */
function pool(): array
{
    $memory = \fopen('php://memory', 'w+');
    \fwrite($memory, "some\nlines\nof text\n");
    \rewind($memory);
    [$a, $b] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    \stream_set_blocking($a, false);
    \stream_set_blocking($b, false);
    \fwrite($b, "words\n");
    $values = [null, true, 0, 1, -1, 7, 2.5, '', 'abc', "line\nline", '/(a)(b)?/', '2020-01-02', '{"a":[1]}', '<a><b/></a>', 'UTF-8', 'sha256',
        [], [1, 2, 3], ['a' => 1, 'b' => [2]], ['x', 'y'], $memory, $a, $b, \fopen('calls://x', 'r+'), \fopen('php://temp', 'w+'), \stream_context_create(),
        new Text('text'), new Text('12'), new Listed, new \ArrayObject([3, 1, 2]), new \stdClass, new \SplObjectStorage, new \SplFixedArray(3),
        new \DateTime('2020-01-01'), new \DateTimeZone('UTC'), \hash_init('sha1')];
    $heap = new class extends \SplMinHeap { protected function compare($a, $b): int { pause(); return $a <=> $b; } };
    foreach ([3, 1, 2] as $n) $heap->insert($n);
    $values[] = $heap;
    $values[] = function (...$arguments) { pause(); return $arguments[0] ?? null; };
    $values[] = function (...$arguments) { pause(); return \count($arguments); };
    $values[] = 'strlen';
    $makes = [
        'PDO' => function () { $db = new \PDO('sqlite::memory:'); $db->exec('create table t(a)'); $db->exec('insert into t values (1), (2), (3)'); $db->sqliteCreateFunction('slow', function ($x) { pause(); return $x; }); return [$db, $db->query('select slow(a) from t')]; },
        'SQLite3' => function () { $db = new \SQLite3(':memory:'); $db->createFunction('slow', function ($x) { pause(); return $x; }); return [$db, $db->query('select slow(1) union all select slow(2)'), $db->prepare('select slow(?)')]; },
        'DOMDocument' => function () { $d = new \DOMDocument; $d->loadXML('<r><a i="1"/><b>text</b></r>'); $x = new \DOMXPath($d); $x->registerNamespace('php', 'http://php.net/xpath'); $x->registerPhpFunctions(); return [$d, $x, $d->documentElement, \simplexml_import_dom($d)]; },
        'XMLWriter' => function () { $w = new \XMLWriter; $w->openMemory(); return [$w]; },
        'Collator' => fn() => [new \Collator('de'), new \NumberFormatter('de', \NumberFormatter::DECIMAL)],
        'ZipArchive' => fn() => [new \ZipArchive],
        'GMP' => fn() => [\gmp_init(12)],
        'Ds\Vector' => fn() => [new \Ds\Vector([3, 1, 2]), new \Ds\Map(['a' => 1])],
        'CurlHandle' => fn() => [\curl_init(), \curl_multi_init()],
        'Socket' => fn() => [\socket_create(AF_UNIX, SOCK_DGRAM, 0)],
        'XMLParser' => function () { $p = \xml_parser_create(); \xml_set_element_handler($p, function () { pause(); }, function () { pause(); }); return [$p]; },
        'finfo' => fn() => [new \finfo],
        'IntlIterator' => fn() => [\IntlBreakIterator::createWordInstance('de')],
    ];
    foreach ($makes as $class => $make) {
        if (\class_exists($class)) {
            try { $values = [...$values, ...$make()]; } catch (\Throwable) {}
        }
    }
    return $values;
}

/** Functions and methods, by extension. */
function targets(): array
{
    $all = [];
    foreach (\get_loaded_extensions() as $extension) {
        foreach ((new \ReflectionExtension($extension))->getFunctions() as $function) {
            if (!\preg_match(LEFT_OUT, $function->getName()) && $extension !== 'spindle') {
                $all[$extension][] = $function->getName();
            }
        }
        foreach ((new \ReflectionExtension($extension))->getClasses() as $class) {
            if (\preg_match(CLASSES_LEFT_OUT, $class->getName()) || $class->isInterface()) {
                continue;
            }
            foreach ($class->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
                if (!\str_starts_with($method->getName(), '__') && !$method->isAbstract() && !\preg_match('/^(stream|open|connect|save|load|set_?flags)/i', $method->getName())) {
                    $all[$extension][] = [$class->getName(), $method->getName()];
                }
            }
        }
    }
    return \array_values($all);
}

$pool = pool();
$targets = targets();
$log = \getenv('CALLS_LOG') ? \fopen(\getenv('CALLS_LOG'), 'w') : null;
$made = 0;

function draw(): mixed
{
    global $pool;
    return $pool[\mt_rand(0, \count($pool) - 1)];
}

function call(): void
{
    global $targets, $pool, $log, $made;
    $of = $targets[\mt_rand(0, \count($targets) - 1)];
    $target = $of[\mt_rand(0, \count($of) - 1)];
    $arguments = [];
    try {
        if (\is_array($target)) {
            $objects = \array_values(\array_filter($pool, fn($value) => $value instanceof $target[0]));
            $reflection = new \ReflectionMethod(...$target);
            if (!$objects && !$reflection->isStatic()) {
                return;
            }
            $callable = $reflection->isStatic() ? "$target[0]::$target[1]" : [$objects[\mt_rand(0, \count($objects) - 1)], $target[1]];
        } else {
            $reflection = new \ReflectionFunction($target);
            $callable = $target;
        }
        $count = \mt_rand($reflection->getNumberOfRequiredParameters(), \min(6, $reflection->getNumberOfParameters()));
        for ($i = 0; $i < $count; $i++) {
            $type = (string) ($reflection->getParameters()[$i] ?? null)?->getType();
            for ($try = 0; $try < 6; $try++) {
                $value = draw();
                $fits = match (true) {
                    \str_contains($type, 'callable') || \str_contains($type, 'Closure') => $value instanceof \Closure,
                    \str_contains($type, 'array') => \is_array($value),
                    \str_contains($type, 'int'), \str_contains($type, 'float') => \is_numeric($value) && !\is_string($value),
                    \str_contains($type, 'string') => \is_string($value) || $value instanceof Text,
                    $type === '' => true,
                    \class_exists($type) => $value instanceof $type,
                    default => true,
                };
                if ($fits) break;
            }
            $arguments[] = \is_int($value) && $value > 1000 ? 7 : $value;
        }
        if ($log) {
            \fwrite($log, "$made " . (\is_array($target) ? \implode('::', $target) : $target) . '(' . \implode(', ', \array_map(\get_debug_type(...), $arguments)) . ")\n");
        }
        $made++;
        $result = @$callable(...$arguments);
        if ((\is_object($result) || \is_resource($result)) && \mt_rand(0, 3) === 0) {
            $pool[\mt_rand(40, \count($pool) + 3)] ??= $result;
            $pool = \array_values($pool);
            if (\count($pool) > 90) \array_splice($pool, 60);
        }
    } catch (\Throwable) {
    }
}

if (!\function_exists('Async\spawn')) {
    while ($made < $calls) call();
} else {
    $scope = new Async\Scope;
    for ($round = 0; $made < $calls; $round++) {
        $jobs = [];
        for ($i = \mt_rand(2, 5); $i > 0; $i--) {
            $jobs[] = $scope->spawn(function (): void { for ($n = 0; $n < 10; $n++) call(); });
        }
        foreach ($jobs as $job) {
            try { Async\await($job, Async\timeout(20_000)); } catch (Async\AwaitCancelledException) { \fwrite(STDERR, "a coroutine has not ended in 20 s\n"); \posix_kill(\getmypid(), SIGABRT); } catch (\Throwable) {}
        }
        if ($round % 50 === 49) $pool = pool();
    }
}
while (\ob_get_level()) \ob_end_clean();
\fwrite(STDOUT, "\n$made $paused\n");
