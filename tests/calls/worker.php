<?php
/*
 * Calls functions and methods of PHP's extensions at random, from several coroutines that share what they are called with.
 *
 *   php worker.php SEED CALLS [RESULTS]
 *
 * What is called, and with what, is drawn from SEED alone, by each coroutine from a generator of its own. Arguments are drawn
 * by the types and names of the parameters. Wherever an argument lets PHP code run inside a call (callbacks, conversions,
 * methods of subclasses, stream wrappers, error handlers), that code suspends the coroutine, or makes another call.
 * Without Spindle, where nothing can be suspended, it always makes another call: what other coroutines do to shared objects in
 * the middle of a call, PHP code can do without them.
 *
 * The file that the variable CALLS_LOG names gets each call before it is made, so that a crash names it; RESULTS gets, at the
 * end, how many calls there were, how many of them were refused for their arguments' types or number, ended by another
 * exception, were suspended inside, and how many coroutines were cancelled as they took too long. CALLS_TIMES=1: which
 * functions took the most time; CALLS_REFUSED=1: why calls were refused. It works in the current folder, which it fills.
 */
namespace Calls;

use Async;
use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;
use ReflectionFunction;
use ReflectionMethod;

require __DIR__ . '/values.php';

[, $seed, $calls, $results] = $argv + [1 => 1, 2 => 1000, 3 => 'php://stderr'];
\error_reporting(0);
\ini_set('display_errors', '0');
\ini_set('memory_limit', '-1');

/** Functions that are not called, by the reason. */
const LEFT_OUT = [
    'they end, leave or replace the process, or signal it' => 'pcntl_(fork|rfork|exec|unshare|alarm|signal|wait|waitpid|waitid|sigprocmask|sigwaitinfo|sigtimedwait|setpriority)|posix_(kill|set.*|initgroups|mkfifo|mknod)|exec|shell_exec|system'
        . '|passthru|popen|proc_open|mail|mb_send_mail|imap_mail|set_time_limit|chroot|dl|trigger_error|user_error|use_soap_error_handler|is_soap_fault|cli_set_process_title|snmp_.*|opcache_.*|sem_acquire|msg_receive',
    'they wait for a person, for the outside, or for a time' => 'readline.*|sleep|time_sleep_until|fscanf|gethost.*|dns_.*|checkdnsrr|getmxrr|fsockopen|pfsockopen|ftp_.*|imap_open|ldap_(connect|bind.*|sasl_bind)'
        . '|ssh2_.*|mysqli_(connect|real_connect)|pg_p?connect|odbc_p?connect|stream_select|stream_socket_(client|server|accept)|socket_(select|accept|connect|create_listen)|gearman_.*|rrd_.*|rrdc_.*'
        . '|snmp.*|mcrypt_create_iv|openlog|syslog|error_log|memcache_.*|stomp_.*|libvirt_.*|uploadprogress_.*',
    'they hold the processor or the memory for long' => 'openssl_(pkey_new|csr_new|dh_compute_key|pkcs5_pbkdf2)|password_hash|crypt|hash_pbkdf2|sodium_crypto_pwhash.*|gmp_(fact|binomial|nextprime|pow|primorial)|phpinfo|phpcredits',
    'they change what the worker itself stands on' => 'restore_error_handler|stream_wrapper_(unregister|restore)|ini_set|ini_alter|ini_restore|gc_disable|putenv|umask|chdir|register_shutdown_function|header_register_callback|ob_start',
];

/** Classes that are neither made nor used, by the reason. */
const CLASSES_LEFT_OUT = [
    'they are what is tested, or reach into memory' => 'Async\\\\.*|FFI.*|Calls\\\\.*|Excimer.*|Tideways.*|LuaSandbox.*',
    'they end the process where they are refused, or never end' => 'GEOSGeometry|InfiniteIterator',
    'they wait for the outside' => 'SNMP|Gearman.*|Stomp.*|Memcache|MemcachePool|AMQPConnection|Solr(Client|PingResponse)|Rrd.*|RRD.*|http\\\\Client.*|ZMQ.*',
];

/** Methods that are not called, by the reason. */
const METHODS_LEFT_OUT = [
    'they end the process, or wait' => 'SoapServer::fault|SoapServer::handle|mysqli::(connect|real_connect|__construct)|MongoDB\\\\Driver\\\\Session::.*|Memcached::(get.*|fetch.*|set.*|add.*|delete.*)',
    'they load code' => 'SQLite3::loadExtension|PDO::sqliteLoadExtension|Imagick::(.*[mM]agick.*)',
];

/** One line of calls: a coroutine, or the script itself. */
final class Flow
{
    public int $depth = 0;
    public int $pauses = 0;
    /** How often the present call was interrupted by `pause`, which ends at some number. */
    public int $pausing = 0;
    /** Those beside it, which it may cancel. */
    public array $others = [];

    public function __construct(public readonly Randomizer $random) {}

    public function below(int $n): int
    {
        return $this->random->getInt(0, $n - 1);
    }

    public function of(array $values): mixed
    {
        return $values[$this->below(\count($values))];
    }
}

/** What can be called: a function or a method, and what is known of its parameters. */
final class Target
{
    public readonly string $name;
    /** @var list<Parameter> */
    public readonly array $parameters;
    public readonly int $required;

    public function __construct(public readonly ReflectionFunction|ReflectionMethod $of, public readonly ?string $class = null)
    {
        $this->name = ($class === null ? '' : "$class::") . $of->getName();
        $this->parameters = \array_map(fn($parameter) => new Parameter($parameter, $class), $of->getParameters());
        $this->required = $of->getNumberOfRequiredParameters();
    }
}

final class Parameter
{
    public readonly string $name;
    /** @var list<string> */
    public readonly array $types;
    public readonly bool $isReference;
    public readonly bool $isVariadic;

    public function __construct(\ReflectionParameter $of, ?string $class)
    {
        $this->name = \strtolower(\str_replace('_', '', $of->getName()));
        $this->isReference = $of->isPassedByReference();
        $this->isVariadic = $of->isVariadic();
        $type = $of->getType();
        $types = \array_map(
            fn($one) => $one instanceof \ReflectionNamedType ? $one->getName() : 'object',
            $type instanceof \ReflectionUnionType ? $type->getTypes() : ($type ? [$type] : []),
        );
        $types = \array_map(fn($one) => $one === 'self' || $one === 'static' ? $class : $one, $types);
        if ($type?->allowsNull() && !\in_array('mixed', $types, true) && !\in_array('null', $types, true)) {
            $types[] = 'null';
        }
        $this->types = $types ?: ['mixed'];
    }
}

function left_out(array $lists, string $name): bool
{
    static $patterns = [];
    $key = \implode('|', \array_keys($lists));
    $pattern = $patterns[$key] ??= '/^(' . \implode('|', $lists) . ')$/i';
    return (bool) \preg_match($pattern, $name);
}

/** What the file `without` names. */
function crashes(string $name): bool
{
    static $pattern;
    $pattern ??= '/^(' . \implode('|', \array_map(
        fn($line) => \str_replace('\*', '.*', \preg_quote(\trim(\explode(' #', $line)[0]), '/')),
        \preg_grep('/^[^#\s]/', \file(__DIR__ . '/without')),
    )) . ')$/i';
    return (bool) \preg_match($pattern, $name);
}

/** Functions and methods, by extension. */
function targets(): array
{
    $all = [];
    foreach (\get_loaded_extensions() as $extension) {
        if ($extension === 'spindle' || $extension === 'readline' || $extension === 'FFI') {
            continue;
        }
        $of = new \ReflectionExtension($extension);
        foreach ($of->getFunctions() as $function) {
            if (!left_out(LEFT_OUT, $function->getName()) && !crashes($function->getName())) {
                $all[$extension][] = new Target($function);
            }
        }
        foreach ($of->getClasses() as $class) {
            if ($class->isTrait() || left_out(CLASSES_LEFT_OUT, $class->getName()) || crashes($class->getName())) {
                continue;
            }
            foreach ($class->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
                $name = $method->getName();
                // An inherited one is called with objects of its own class and of those below.
                if ($method->class === $class->getName() && $name !== '__construct' && $name !== '__destruct'
                    && !left_out(METHODS_LEFT_OUT, "$method->class::$name") && !crashes("$method->class::$name")) {
                    $all[$extension][] = new Target($method, $method->class);
                }
            }
        }
    }
    return \array_values($all);
}

/** What can be made of a class: itself, and those below it, of extensions and with methods that suspend. */
function makers(string $class): array
{
    static $known = [], $declared = null;
    $declared ??= \array_filter(\get_declared_classes(), fn($name) => !left_out(CLASSES_LEFT_OUT, $name) && !crashes($name) || \str_starts_with($name, 'Calls\Made'));
    return $known[\strtolower($class)] ??= \array_values(\array_filter($declared, function ($name) use ($class) {
        $of = new \ReflectionClass($name);
        return \is_a($name, $class, true) && ($of->isInstantiable() || $of->isEnum())
            && !crashes(($of->getConstructor()?->class ?? '') . '::__construct');
    }));
}

/** A subclass whose methods suspend before they are what they are; the class itself where there can be none. */
function subclass(string $class): string
{
    static $made = [];
    if (isset($made[$class])) {
        return $made[$class];
    }
    $of = new \ReflectionClass($class);
    if ($of->isFinal() || $of->isAbstract() || $of->isInterface() || $of->isEnum() || $of->isUserDefined()) {
        return $made[$class] = $class;
    }
    $methods = '';
    foreach ($of->getMethods(ReflectionMethod::IS_PUBLIC | ReflectionMethod::IS_PROTECTED) as $method) {
        $name = $method->getName();
        if ($method->isFinal() || $method->isStatic() || $method->isAbstract() || \str_starts_with($name, '__') && $name !== '__toString') {
            continue;
        }
        $parameters = [];
        foreach ($method->getParameters() as $n => $parameter) {
            if ($parameter->isPassedByReference()) {
                continue 2;
            }
            $parameters[] = $parameter->isVariadic() ? "...\$p$n" : "\$p$n" . ($parameter->isOptional() ? ' = null' : '');
        }
        $type = $method->getReturnType();
        $return = \in_array((string) $type, ['void', 'never'], true) ? '' : 'return ';
        $methods .= '#[\ReturnTypeWillChange] ' . ($method->isProtected() ? 'protected' : 'public') . ' function '
            . ($method->returnsReference() ? '&' : '') . "$name(" . \implode(', ', $parameters) . ')'
            . ($type ? ': ' . \preg_replace('/\b(?!(?:static|self|int|float|string|bool|array|mixed|void|never|null|false|true|object|iterable|callable)\b)(?<!\\\\)\b([a-z])/i', '\\\\$1', (string) $type) : '')
            . " { \\Calls\\pause(); {$return}parent::$name(...\\func_get_args()); }\n";
    }
    $name = 'Made' . \count($made);
    eval("namespace Calls; class $name extends \\$class { $methods }");
    return $made[$class] = "Calls\\$name";
}

/** An object of a class: one that is there, or a new one. */
function object(Flow $flow, string $class, int $depth = 0): mixed
{
    global $pool;
    $there = \array_values(\array_filter($pool, fn($value) => $value instanceof $class));
    if ($there && $flow->below(6)) {
        return $flow->of($there);
    }
    $makers = $depth < 3 ? makers($class) : [];
    for ($try = 0; $makers && $try < 3; $try++) {
        $made = $flow->of($makers);
        if (\enum_exists($made)) {
            return $flow->of($made::cases());
        }
        $made = $flow->below(2) ? subclass($made) : $made;
        try {
            $constructor = (new \ReflectionClass($made))->getConstructor();
            if (\preg_match('/^(DirectoryIterator|FilesystemIterator|RecursiveDirectoryIterator|GlobIterator|SplFileObject|SplFileInfo|Phar|PharData)$/i', $constructor->class ?? '')) {
                $arguments = [$flow->of(\str_contains($constructor->class, 'SplFile') ? PATHS : (\str_starts_with($constructor->class, 'Phar') ? ARCHIVES : FOLDERS))];
            } else {
                $arguments = $constructor ? arguments($flow, new Target($constructor, $made), $depth + 1) : [];
            }
            note($flow, "new $made", $arguments);
            $object = new $made(...$arguments);
            keep($flow, $object);
            return $object;
        } catch (\Throwable) {
        }
    }
    return $there ? $flow->of($there) : null;
}

function argument(Flow $flow, Parameter $parameter, int $depth): mixed
{
    global $pool;
    if ($parameter->name === 'inputheaders') {
        return null; // others end the process
    }
    $type = $flow->of($parameter->types);
    if ($type === 'null' && $flow->below(3)) {
        $type = $parameter->types[0];
    }
    if ($type === 'mixed') {
        // What has no type has at least a name.
        if (\preg_match('/^(stream|fp|handle|bz|file|res|resource|dirhandle|from|to|socket|link|connection|statement|dba|zipentry|process|td|sftp|session|brigade)$/', $parameter->name) && $flow->below(8)) {
            $wanted = $parameter->name === 'context' ? 'stream-context' : null;
            $streams = \array_values(\array_filter($pool, fn($value) => \is_resource($value) && ($wanted === null || \get_resource_type($value) === $wanted)));
            return $streams ? $flow->of($streams) : null;
        }
        if ($parameter->name === 'context') {
            return $flow->below(2) ? null : $flow->of(\array_values(\array_filter($pool, fn($value) => \is_resource($value) && \get_resource_type($value) === 'stream-context')) ?: [null]);
        }
        $named = named($parameter->name);
        if ($named && $flow->below(4)) {
            return $flow->of($named);
        }
        return $flow->below(3) ? value($flow) : $flow->of($pool);
    }
    return match ($type) {
        'null' => null,
        'bool', 'false', 'true' => (bool) $flow->below(2),
        'int' => $flow->of(\array_values(\array_filter(named($parameter->name), \is_int(...))) ?: INTEGERS),
        'float' => $flow->of(FLOATS),
        'string' => text($flow, $parameter->name),
        'array' => \is_array($value = $flow->of(arrays())) ? $value : [],
        'iterable' => $flow->below(2) ? $flow->of(arrays()) : object($flow, 'Traversable', $depth),
        'callable' => $flow->below(4) ? $flow->of(callbacks()) : $flow->of(NAMES_OF_FUNCTIONS),
        'object' => $flow->of(\array_values(\array_filter($pool, \is_object(...)))),
        'Closure' => $flow->of(callbacks()),
        // Of a connection there may be none; with null the call would only be refused.
        default => object($flow, $type, $depth) ?? (\in_array('null', $parameter->types, true) ? null : throw new NoneThere),
    };
}

final class NoneThere extends \Exception {}

function text(Flow $flow, string $name): mixed
{
    $values = \array_values(\array_filter(named($name), \is_string(...)));
    if (!$values || !$flow->below(8)) {
        $values = TEXTS;
    }
    $value = $flow->of($values);
    return $flow->below(6) ? $value : new Text((string) $value);
}

function value(Flow $flow): mixed
{
    return match ($flow->below(7)) {
        0 => $flow->of(INTEGERS),
        1 => $flow->of(FLOATS),
        2, 3 => $flow->of(TEXTS),
        4 => $flow->of(arrays()),
        5 => $flow->of(callbacks()),
        6 => $flow->of([null, true, false]),
    };
}

/** Arguments for a call; those that are taken by reference refer to what others refer to, too. */
function arguments(Flow $flow, Target $target, int $depth = 0): array
{
    global $shared;
    $count = $target->required;
    while ($count < \min(8, \count($target->parameters)) && $flow->below(2)) {
        $count++;
    }
    $arguments = [];
    for ($i = 0; $i < $count; $i++) {
        $parameter = $target->parameters[$i];
        if ($parameter->isReference) {
            $types = \array_intersect($parameter->types, ['array', 'mixed']);
            $n = $types ? $flow->below(\count($shared)) : 0;
            if (!$flow->below(3)) {
                unset($shared[$n]);
                $shared[$n] = argument($flow, $parameter, $depth);
            } elseif ($parameter->types === ['array'] && !\is_array($shared[$n])) {
                $shared[$n] = [3, 1, 2];
            }
            $arguments[] = &$shared[$n];
        } else {
            $arguments[] = argument($flow, $parameter, $depth);
        }
    }
    return $arguments;
}

/** Puts what a call has given into the pool. */
function keep(Flow $flow, mixed $result): void
{
    global $pool, $base;
    if (\is_array($result)) {
        $result = \current(\array_filter($result, fn($value) => \is_object($value) || \is_resource($value)));
    }
    if ($result instanceof \ReflectionExtension || $result instanceof \Async\Awaitable) {
        return;
    }
    if (\is_resource($result)) {
        if (\get_resource_type($result) === 'stream') {
            \stream_set_blocking($result, false);
        }
    } elseif ($result instanceof \Socket) {
        \socket_set_nonblock($result);
    } elseif (!\is_object($result)) {
        return;
    }
    $pool[$base + $flow->below(POOL - $base)] = $result;
    $pool = \array_values($pool);
}

function describe(mixed $value): string
{
    return match (true) {
        \is_object($value) => $value::class . '#' . \spl_object_id($value),
        \is_resource($value) => \get_resource_type($value) . ' ' . \get_resource_id($value),
        \is_array($value) => 'array(' . \count($value) . ')',
        default => \substr((string) \json_encode($value, JSON_INVALID_UTF8_SUBSTITUTE), 0, 60),
    };
}

function note(Flow $flow, string $name, array $arguments): void
{
    global $log, $made;
    if ($log) {
        $id = \spl_object_id($flow);
        \fwrite($log, "$made [$id] " . \str_repeat('> ', $flow->depth) . $name . '(' . \implode(', ', \array_map(describe(...), $arguments)) . ")\n");
    }
}

function call(Flow $flow): void
{
    global $targets, $every, $made, $refused, $thrown, $suspended, $switches, $running, $times;
    if ($running !== $flow) {
        $running = $flow;
        $switches++;
    }
    $flow->depth++;
    $entered = true;
    try {
        $target = $flow->below(2) ? $flow->of($every) : $flow->of($flow->of($targets));
        $arguments = arguments($flow, $target);
        if ($target->class === null) {
            $callable = $target->of->getName();
        } elseif ($target->of->isStatic()) {
            $callable = [$target->class, $target->of->getName()];
        } else {
            $object = object($flow, $target->class);
            if ($object === null) {
                return;
            }
            $callable = [$object, $target->of->getName()];
        }
        if (!\is_callable($callable)) {
            return;
        }
        note($flow, $target->name, $target->class === null || $target->of->isStatic() ? $arguments : [$object, ...$arguments]);
        $made++;
        $pauses = $flow->pauses;
        $before = $switches;
        $start = \hrtime(true);
        try {
            $result = @$callable(...$arguments);
        } catch (\TypeError $error) {
            // One from a callback is an error like others.
            $entered = ($error->getTrace()[0]['function'] ?? '') !== $target->of->getName();
            $thrown += $entered;
            $refused += !$entered;
            if (!$entered && \getenv('CALLS_REFUSED')) {
                \fwrite(STDERR, "refused: " . $error->getMessage() . "\n");
            }
        } catch (\Throwable $error) {
            $thrown++;
        }
        $times[$target->name][] = \hrtime(true) - $start;
        if ($running !== $flow) {
            $running = $flow;
            $switches++;
        }
        $suspended += ($before !== $switches || $pauses !== $flow->pauses) && $entered && ASYNC;
        if (($result ?? null) !== null && !$flow->below(2)) {
            keep($flow, $result);
        }
    } catch (\Throwable) {
    } finally {
        $flow->depth--;
    }
}

$log = \getenv('CALLS_LOG') ? \fopen(\getenv('CALLS_LOG'), 'w') : null;
$results = \fopen($results, 'w');
$made = $refused = $thrown = $suspended = $switches = $cancelled = 0;
$times = $flows = [];
$running = null;
\define('Calls\ASYNC', \extension_loaded('spindle'));

$finished = false;
\register_shutdown_function(function () use ($results, &$finished) {
    let_go();
    if (!$finished) {
        \fwrite($results, 'ended early: ' . \json_encode(\error_get_last()) . "\n");
    }
});

prepare();
$pool = $shared = [];
$base = 0;
refill();
$targets = targets();
$every = \array_merge(...$targets);

/** Lets all objects go; nothing that runs then, or later, does anything. Some modules do not bear it after their end. */
function let_go(): void
{
    $GLOBALS['flows'] = [];
    try { $GLOBALS['pool'] = $GLOBALS['shared'] = []; } catch (\Throwable) {}
    try { \gc_collect_cycles(); } catch (\Throwable) {}
}

function random(string $what): Randomizer
{
    return new Randomizer(new Xoshiro256StarStar(\hash('sha256', $what, true)));
}

if (!ASYNC) {
    $flow = $flows[0] = new Flow(random("$seed"));
    \ob_start(fn() => '');
    for ($n = 1; $made < $calls; $n++) {
        $flow->pausing = 0;
        call($flow);
        if ($n % 2000 === 0) { try { refill(); } catch (\Throwable) {} }
    }
    while (@\ob_end_clean());
} else {
    $flows[1] = new Flow(random("$seed")); // main makes no calls itself, but what it drops may have destructors
    $random = random("$seed rounds");
    for ($round = 1; $made < $calls; $round++) {
        $jobs = $lines = [];
        $scope = new Async\Scope;
        $scope->setExceptionHandler(fn() => null);
        for ($i = $random->getInt(2, 5); $i > 0; $i--) {
            $flow = new Flow(random("$seed $round $i"));
            $jobs[] = $scope->spawn(function (Flow $flow): void {
                $id = Async\currentCoroutine()->getId();
                $GLOBALS['flows'][$id] = $flow;
                \ob_start(function () use ($flow) {
                    $flow->depth += 10; // functions for output are not allowed here, and nothing is called
                    try { pause(); } finally { $flow->depth -= 10; }
                    return '';
                }, $flow->below(3) ? 0 : 1);
                for ($n = 0; $n < 20; $n++) {
                    $flow->pausing = 0;
                    try { call($flow); } catch (\Throwable) {}
                }
                while (@\ob_end_clean());
                unset($GLOBALS['flows'][$id]);
            }, $flow);
            $lines[] = $flow;
        }
        foreach ($lines as $flow) $flow->others = $jobs;
        foreach ($jobs as $job) {
            // Some may wait for what never comes; what is cancelled ends.
            for ($try = 0; !$job->isCompleted(); $try++) {
                try {
                    Async\await($job, Async\timeout($try ? 30_000 : 1_000));
                } catch (Async\AwaitCancelledException) {
                    if ($try > 3) {
                        \fwrite(STDERR, "a coroutine has not ended\n" . Async\dump());
                        \posix_kill(\getmypid(), SIGABRT);
                    }
                    $cancelled++;
                    if ($log) \fwrite($log, "cancelled: " . \json_encode($job->getAwaitingInfo()) . "\n" . $job->getTrace()[0]['function'] . "\n");
                    $job->cancel();
                } catch (\Throwable) {
                }
            }
        }
        foreach ($lines as $flow) $flow->others = [];
        if ($round % 25 === 0) { try { refill(); } catch (\Throwable) {} }
    }
}
$finished = true;
let_go();
\fwrite($results, "$made $refused $thrown $suspended $cancelled\n");
if (\getenv('CALLS_TIMES')) {
    $sums = \array_map(\array_sum(...), $times);
    \arsort($sums);
    foreach (\array_slice($sums, 0, 25) as $name => $sum) {
        \fwrite($results, \sprintf("%8.3f s %5d  %s\n", $sum / 1e9, \count($times[$name]), $name));
    }
}
