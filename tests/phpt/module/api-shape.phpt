--TEST--
All that the extension adds, by Reflection: functions, classes, constants, ini settings, and what it refuses to run beside
--EXTENSIONS--
pdo
redis
mysqlnd
mysqli
--FILE--
<?php
require __DIR__ . '/api.inc';

$extension = new ReflectionExtension('spindle');
$classes = $extension->getClasses();
echo Api\shape($extension->getFunctions(), $classes);
foreach ($classes as $name => $class) {
    if ($name !== $class->getName()) echo "alias $name of {$class->getName()}\n";
}
foreach ($extension->getConstants() as $name => $value) echo "const $name = ", json_encode($value), "\n";
foreach (ini_get_all('spindle') as $name => $setting) {
    $where = [INI_SYSTEM => 'when PHP starts', INI_PERDIR => 'for each folder', INI_ALL => 'anywhere'][$setting['access']] ?? $setting['access'];
    echo "ini $name = ", json_encode($setting['global_value']), ", set $where\n";
}
foreach ($extension->getDependencies() as $name => $kind) echo "$kind: $name\n";
?>
--EXPECT--
function Async\Http\currentRequest(): ?Async\Http\Request
function Async\Http\finish(): bool
function Async\Http\requestId(): ?string
function Async\Syntax\call(mixed $callee, Closure $of = UNKNOWN): ?Async\Syntax\Call
function Async\Task\getTaskId(): Async\Task\SystemCall
function Async\Task\killTask(int $tid): Async\Task\SystemCall
function Async\Task\newTask(Generator $coroutine): Async\Task\SystemCall
function Async\Task\retval(mixed $value): Async\Task\CoroutineReturnValue
function Async\Task\stackedCoroutine(Generator $gen): Generator
function Async\Task\waitForRead(mixed $socket): Async\Task\SystemCall
function Async\Task\waitForWrite(mixed $socket): Async\Task\SystemCall
function Async\await(Async\Awaitable|Async\Scope $awaitable, ?Async\Awaitable $cancellation = null): mixed
function Async\awaitAll(iterable $awaitables, ?Async\Awaitable $cancellation = null): array
function Async\awaitAllSettled(iterable $awaitables, ?Async\Awaitable $cancellation = null): array
function Async\awaitAny(iterable $awaitables, ?Async\Awaitable $cancellation = null): mixed
function Async\awaitAnyOf(int $count, iterable $awaitables, ?Async\Awaitable $cancellation = null): array
function Async\awaitChildren(?Async\Awaitable $cancellation = null): void
function Async\awaitFirst(iterable $awaitables, ?Async\Awaitable $cancellation = null): mixed
function Async\await_all(iterable $triggers, ?Async\Awaitable $cancellation = null, bool $preserveKeyOrder = true, bool $fillNull = false): array
function Async\await_all_or_fail(iterable $triggers, ?Async\Awaitable $cancellation = null, bool $preserveKeyOrder = true): array
function Async\await_any_of(int $count, iterable $triggers, ?Async\Awaitable $cancellation = null, bool $preserveKeyOrder = true, bool $fillNull = false): array
function Async\await_any_of_or_fail(int $count, iterable $triggers, ?Async\Awaitable $cancellation = null, bool $preserveKeyOrder = true): array
function Async\await_any_or_fail(iterable $triggers, ?Async\Awaitable $cancellation = null): mixed
function Async\await_first_success(iterable $triggers, ?Async\Awaitable $cancellation = null): array
function Async\coroutine_context(): Async\Context
function Async\currentCoroutine(): Async\Coroutine
function Async\currentScope(): Async\Scope
function Async\current_coroutine(): Async\Coroutine
function Async\delay(int $ms): void
function Async\dump(): void
function Async\getCoroutines(): array
function Async\get_coroutines(): array
function Async\globalScope(): Async\Scope
function Async\gracefulShutdown(?Throwable $e = null): void
function Async\graceful_shutdown(?Throwable $e = null): void
function Async\group(callable $block, mixed ...$args): mixed
function Async\iterate(iterable $iterable, callable $callback, int $concurrency = 0): void
function Async\localContext(): Async\Context
function Async\map(iterable $items, callable $callback, int $concurrency = 0, ?Async\Awaitable $cancellation = null): array
function Async\metrics(): array
function Async\onExit(Closure $callback): void
function Async\onFinally(Closure $callback): void
function Async\protect(Closure $critical): mixed
function Async\race(iterable $tasks, int $stagger = 0): mixed
function Async\retry(callable $task, int $attempts = 3, int $delay = 100, float $factor = 2, float $jitter = 0.1, ?callable $when = null): mixed
function Async\select(array $operations, ?Async\Awaitable $cancellation = null): array
function Async\signal(int $signo): Async\Awaitable
function Async\spawn(callable $task, mixed ...$args): Async\Coroutine
function Async\spawnInstance(callable $body): Async\Coroutine
function Async\suspend(): void
function Async\timeout(int $ms): Async\Timeout
function Async\trySelect(array $operations): ?array
function Async\withTimeout(int $milliseconds, callable $block, mixed ...$args): mixed
class Async\AsyncException extends Exception implements Stringable, Throwable
class Async\AwaitCancelledException extends Async\AsyncException implements Stringable, Throwable
interface Async\Awaitable
final class Async\Barrier
    public function __construct(int $parties)
    public function await(?Async\Awaitable $cancellation = null): bool
    public function waiting(): int
class Async\BoundedScope extends Async\Scope implements Async\Awaitable
    public function withTimeout(int $milliseconds): static
    public function spawnAndBound(callable $coroutine, mixed ...$args): Async\Coroutine
    public function boundedBy(mixed $constraint): static
    public function getBoundsInfo(): array
class Async\CancellationException extends Exception implements Stringable, Throwable
final class Async\Channel implements Countable, IteratorAggregate, Traversable
    public function __construct(int $capacity = 0)
    public function send(mixed $value, ?Async\Awaitable $cancellation = null): void
    public function recv(?Async\Awaitable $cancellation = null): mixed
    public function trySend(mixed $value): bool
    public function sendAsync(mixed $value): bool
    public function tryRecv(): mixed
    public function close(?Throwable $reason = null): void
    public function isClosed(): bool
    public function isEmpty(): bool
    public function isFull(): bool
    public function count(): int
    public function capacity(): int
    public function getIterator(): Iterator
    public function toStream(mixed $stream, string $separator = ""): int
    public static function fromStream(mixed $stream, int $chunk = 0, int $capacity = 0): Async\Channel
class Async\ChannelException extends Async\AsyncException implements Stringable, Throwable
final class Async\ChannelIterator implements Iterator, Traversable
    public function current(): mixed
    public function key(): int
    public function next(): void
    public function rewind(): void
    public function valid(): bool
final class Async\CompositeException extends Exception implements Stringable, Throwable
    private array $exceptions = []
    public function getExceptions(): array
final class Async\Context
    private function __construct()
    public function find(object|string $key): mixed
    public function get(object|string $key): mixed
    public function has(object|string $key): bool
    public function findLocal(object|string $key): mixed
    public function getLocal(object|string $key): mixed
    public function hasLocal(object|string $key): bool
    public function set(object|string $key, mixed $value, bool $replace = false): static
    public function unset(object|string $key): static
class Async\ContextException extends Async\AsyncException implements Stringable, Throwable
final class Async\Coroutine implements Async\Awaitable
    private function __construct()
    public function getId(): int
    public function isStarted(): bool
    public function isQueued(): bool
    public function isRunning(): bool
    public function isSuspended(): bool
    public function isCancelled(): bool
    public function isCancellationRequested(): bool
    public function isCompleted(): bool
    public function getResult(): mixed
    public function getException(): ?Throwable
    public function getTrace(int $options = DEBUG_BACKTRACE_PROVIDE_OBJECT, int $limit = 0): array
    public function getSpawnFileAndLine(): array
    public function getSpawnLocation(): string
    public function getSuspendFileAndLine(): array
    public function getSuspendLocation(): string
    public function getAwaitingInfo(): array
    public function getParent(): ?Async\Coroutine
    public function getScope(): ?Async\Scope
    public function cancel(?Async\CancellationException $cancellation = null): void
    public function getContext(): Async\Context
    public function onFinally(Closure $callback): void
    public function onExit(Closure $callback): void
    public function finally(Closure $callback): void
final class Async\CoroutineGroup implements Async\Awaitable
    public function __construct(?Async\Scope $scope = null)
    public function spawn(callable $task, mixed ...$args): Async\Coroutine
    public function add(Async\Coroutine $coroutine): void
    public function cancel(?Async\CancellationException $cancellation = null): void
    public function dispose(): void
    public function getResults(): array
    public function getErrors(): array
class Async\DeadlockError extends Error implements Stringable, Throwable
final class Async\Future implements Async\Awaitable
    public function __construct(Async\FutureState $state)
    public function map(callable $callback): Async\Future
    public function catch(callable $callback): Async\Future
    public function finally(callable $callback): Async\Future
    public function await(?Async\Awaitable $cancellation = null): mixed
    public function ignore(): Async\Future
    public function isCompleted(): bool
    public static function completed(mixed $value = null): Async\Future
    public static function failed(Throwable $throwable): Async\Future
final class Async\FutureState
    public function complete(mixed $result = null): void
    public function error(Throwable $throwable): void
    public function ignore(): void
    public function isCompleted(): bool
class Async\Http\BadRequest extends Async\Http\ServerException implements Stringable, Throwable
class Async\Http\ClientDisconnected extends Async\CancellationException implements Stringable, Throwable
class Async\Http\Forbidden extends Async\Http\ServerException implements Stringable, Throwable
final class Async\Http\Message implements Stringable
    public function data(): string
    public function isBinary(): bool
    public function __toString(): string
class Async\Http\MessagesLost extends Async\Http\ServerException implements Stringable, Throwable
class Async\Http\PayloadTooLarge extends Async\Http\ServerException implements Stringable, Throwable
final class Async\Http\Request
    public function id(): string
    public function method(): string
    public function target(): string
    public function path(): string
    public function scheme(): string
    public function host(): string
    public function protocol(): string
    public function clientAddress(): string
    public function clientPort(): int
    public function header(string $name, ?string $default = null): ?string
    public function headers(): array
    public function query(?string $name = null, mixed $default = null): mixed
    public function cookie(?string $name = null, ?string $default = null): mixed
    public function body(): string
    public function read(int $length = 65536): ?string
    public function json(int $flags = 0): mixed
    public function form(?string $name = null, mixed $default = null): mixed
    public function files(): array
    public function trailers(): array
    public function isWebSocket(): bool
    public function upgrade(array $protocols = [], array $origins = []): Async\Http\WebSocket
    public function get(string $key, mixed $default = null): mixed
    public function set(string $key, mixed $value): Async\Http\Request
class Async\Http\RequestTimeout extends Async\CancellationException implements Stringable, Throwable
final class Async\Http\Response
    public function __construct(mixed $body = "", int $status = 200, array $headers = [])
    public function status(): int
    public function headers(): array
    public function header(string $name, mixed $value, bool $replace = true): Async\Http\Response
    public function cookie(string $name, string $value = "", array $options = []): Async\Http\Response
    public function trailer(string $name, string $value): Async\Http\Response
    public static function json(mixed $value, int $status = 200, int $flags = 0): Async\Http\Response
    public static function events(mixed $events, float $heartbeat = 15): Async\Http\Response
    public static function redirect(string $location, int $status = 302): Async\Http\Response
final class Async\Http\Server
    public function __construct(array $options = [])
    public function listen(string $address, ?Async\Http\Tls $tls = null, bool $proxyProtocol = false, bool $reusePort = false): Async\Http\Server
    public function files(string $prefix, string $directory, array $options = []): Async\Http\Server
    public function fastcgi(string $prefix, string $address, string $directory, array $options = []): Async\Http\Server
    public function handle(callable $handler): Async\Http\Server
    public function worker(callable $handler, ?callable $onFatalError = null): Async\Http\Server
    public function application(callable $boot, int $instances = 16, bool $eager = false, ?callable $onFatalError = null): Async\Http\Server
    public function accessLog(mixed $to, string $format = "combined"): Async\Http\Server
    public function run(): void
    public function stop(?float $grace = null): void
    public function address(): string
    public function stats(): array
    public function requests(): array
class Async\Http\ServerException extends Async\AsyncException implements Stringable, Throwable
class Async\Http\ServerStopped extends Async\CancellationException implements Stringable, Throwable
final class Async\Http\Subscription implements IteratorAggregate, Traversable
    public function receive(): ?string
    public function close(): void
    public function getIterator(): Iterator
final class Async\Http\Tls
    public function __construct(string $certificate, string $key, array $options = [])
    public function add(string $certificate, string $key): Async\Http\Tls
    public function reload(): void
final class Async\Http\Topic
    public function __construct(string $name)
    public function name(): string
    public function publish(string $message): void
    public function subscribe(int $capacity = 64): Async\Http\Subscription
class Async\Http\UpgradeRequired extends Async\Http\ServerException implements Stringable, Throwable
final class Async\Http\UploadedFile
    public function name(): string
    public function type(): string
    public function path(): ?string
    public function size(): int
    public function error(): int
    public function moveTo(string $path): void
final class Async\Http\WebSocket implements IteratorAggregate, Traversable
    public function receive(): ?Async\Http\Message
    public function send(string $text): void
    public function sendBinary(string $data): void
    public function ping(string $data = ""): void
    public function close(int $code = 1000, string $reason = ""): void
    public function isClosed(): bool
    public function protocol(): ?string
    public function closeCode(): ?int
    public function closeReason(): ?string
    public function getIterator(): Iterator
final class Async\Http\Writer
    public function write(string $data): void
    public function event(string $data, ?string $event = null, ?string $id = null, ?int $retry = null): void
    public function flush(): void
final class Async\Interval implements Iterator, Traversable
    public function __construct(int $ms)
    public function current(): int
    public function key(): int
    public function next(): void
    public function rewind(): void
    public function valid(): bool
final class Async\Key implements Stringable
    public readonly string $description
    public function __construct(string $description = "")
    public function __toString(): string
enum Async\Lifetime implements UnitEnum
    case Scope
    case TopDown
    case BottomUp
    public readonly string $name
    public static function cases(): array
final class Async\Mutex
    public function lock(?Async\Awaitable $cancellation = null): void
    public function tryLock(): bool
    public function unlock(): void
    public function with(callable $callback, ?Async\Awaitable $cancellation = null): mixed
    public function isLocked(): bool
final class Async\Poll
    public function watchRead(mixed $stream, mixed $value = null): void
    public function watchWrite(mixed $stream, mixed $value = null): void
    public function unwatchRead(mixed $stream): void
    public function unwatchWrite(mixed $stream): void
    public function watchSignal(int $signo): void
    public function unwatchSignal(int $signo): void
    public function wait(?float $seconds = null): array
    public function isWaiting(): bool
    public function wake(): void
final class Async\Pool implements Countable
    public function __construct(callable $factory, ?callable $destructor = null, ?callable $healthcheck = null, ?callable $beforeAcquire = null, ?callable $beforeRelease = null, int $min = 0, int $max = 10, int $healthcheckInterval = 0, int $idleTime = 0)
    public function acquire(?Async\Awaitable $cancellation = null): mixed
    public function tryAcquire(): mixed
    public function release(mixed $resource, bool $broken = false): void
    public function with(callable $callback, ?Async\Awaitable $cancellation = null): mixed
    public function close(): void
    public function isClosed(): bool
    public function count(): int
    public function idleCount(): int
    public function activeCount(): int
    public static function pdo(string $dsn, ?string $username = null, ?string $password = null, ?array $options = null, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null): Async\Pool
    public static function redis(string $host = "127.0.0.1", int $port = 6379, float $timeout = 0, mixed $auth = null, int $database = 0, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null): Async\Pool
    public static function mysqli(?string $hostname = null, ?string $username = null, ?string $password = null, ?string $database = null, ?int $port = null, ?string $socket = null, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null): Async\Pool
class Async\PooledMysqli extends mysqli
    public readonly Async\Pool $pool
    public function __construct(?string $hostname = null, ?string $username = null, ?string $password = null, ?string $database = null, ?int $port = null, ?string $socket = null, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null)
final class Async\PooledMysqliConnection extends mysqli
    public function __destruct()
class Async\PooledPDO extends PDO
    public readonly Async\Pool $pool
    public function __construct(string $dsn, ?string $username = null, ?string $password = null, ?array $options = null, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null)
    public function __call(string $name, array $arguments): mixed
final class Async\PooledPDOConnection extends PDO
    public function __destruct()
class Async\PooledRedis extends Redis
    public readonly Async\Pool $pool
    public function __construct(string $host = "127.0.0.1", int $port = 6379, float $timeout = 0, mixed $auth = null, int $database = 0, int $max = 10, int $min = 0, int $healthcheckInterval = 1000, int $idleTime = 0, ?callable $reset = null)
    public function __call(string $name, array $arguments): mixed
final class Async\PooledRedisConnection extends Redis
    public function __destruct()
final class Async\RateLimiter
    public function __construct(int $permits, int $milliseconds)
    public function acquire(int $n = 1, ?Async\Awaitable $cancellation = null): void
    public function tryAcquire(int $n = 1): bool
class Async\Scope
    public function __construct(?Async\Lifetime $lifetime = null)
    public static function inherit(?Async\Scope $parentScope = null): static
    public function spawn(callable $task, mixed ...$args): Async\Coroutine
    public function awaitCompletion(Async\Awaitable $cancellation): void
    public function awaitAfterCancellation(?callable $errorHandler = null, ?Async\Awaitable $cancellation = null): void
    public function awaitDirectChildren(): void
    public function cancel(?Async\CancellationException $cancellation = null): void
    public function dispose(): void
    public function disposeSafely(): void
    public function disposeAfterTimeout(int $ms): void
    public function setExceptionHandler(callable $handler): void
    public function setChildScopeExceptionHandler(callable $handler): void
    public function getErrors(): array
    public function onFinally(Closure $callback): void
    public function onExit(Closure $callback): void
    public function finally(Closure $callback): void
    public function find(object|string $key): mixed
    public function get(object|string $key): mixed
    public function has(object|string $key): bool
    public function findLocal(object|string $key): mixed
    public function getLocal(object|string $key): mixed
    public function hasLocal(object|string $key): bool
    public function set(object|string $key, mixed $value, bool $replace = false): static
    public function unset(object|string $key): static
    public function getParentScope(): ?Async\Scope
    public function getChildScopes(): array
    public function getCoroutines(): array
    public function isFinished(): bool
    public function isClosed(): bool
    public function isCancelled(): bool
    public function isDisposed(): bool
final class Async\Semaphore
    public function __construct(int $permits)
    public function acquire(?Async\Awaitable $cancellation = null): void
    public function tryAcquire(): bool
    public function release(): void
    public function with(callable $callback, ?Async\Awaitable $cancellation = null): mixed
    public function available(): int
final class Async\Settled
    public readonly bool $ok
    public readonly mixed $value
    public readonly ?Throwable $error
    private function __construct()
    public function unwrap(): mixed
final class Async\SignalArrival implements Async\Awaitable
    public function isCompleted(): bool
final class Async\Syntax\Call
    private function __construct()
    public function __invoke(mixed &...$args): Async\Coroutine
final class Async\Task\CoSocket
    public function __construct(mixed $socket)
    public function accept(): Async\Task\SystemCall
    public function read(int $size): Async\Task\SystemCall
    public function write(string $string): Async\Task\SystemCall
    public function close(): void
final class Async\Task\CoroutineReturnValue
    public function __construct(mixed $value)
    public function getValue(): mixed
final class Async\Task\Scheduler
    public function newTask(Generator $coroutine): int
    public function schedule(Async\Task\Task $task): void
    public function killTask(int $tid): bool
    public function waitForRead(mixed $socket, Async\Task\Task $task): void
    public function waitForWrite(mixed $socket, Async\Task\Task $task): void
    public function run(): void
final class Async\Task\SystemCall
    public function __construct(callable $callback)
    public function __invoke(Async\Task\Task $task, Async\Task\Scheduler $scheduler): mixed
final class Async\Task\Task implements Async\Awaitable
    public function __construct(int $taskId, Generator $coroutine)
    public function getTaskId(): int
    public function setSendValue(mixed $sendValue): void
    public function setException(Throwable $exception): void
    public function run(): mixed
    public function isFinished(): bool
final class Async\Timeout implements Async\Awaitable
    private function __construct()
    public function isCompleted(): bool
class Async\TimeoutException extends Async\AwaitCancelledException implements Stringable, Throwable
final class FiberExit extends Exception implements Stringable, Throwable
interface FiberScheduler
    abstract public function run(): void
final class ReflectionFiberScheduler extends ReflectionFiber
    public function __construct(FiberScheduler $scheduler)
    public function getFiberScheduler(): FiberScheduler
alias async\cancellationerror of Async\CancellationException
alias async\asynccancellation of Async\CancellationException
alias async\taskgroup of Async\CoroutineGroup
alias async\completable of Async\Awaitable
alias async\operationcanceledexception of Async\AwaitCancelledException
ini async.block_log = "", set when PHP starts
ini async.block_warning_ms = "0", set when PHP starts
ini async.cancel_warning_ms = "2000", set anywhere
ini async.diagnostics = "0", set anywhere
ini async.dump_signal = "", set when PHP starts
ini async.fiber_api = "coexist", set when PHP starts
ini async.fiber_identity = "Monolog, OpenTelemetry\\Context, Revolt\\EventLoop\\FiberLocal", set when PHP starts
ini async.file_pool = "default", set when PHP starts
ini async.interpose_exclude = "", set when PHP starts
ini async.lifetime = "scope", set when PHP starts
ini async.request_statics = "", set when PHP starts
ini async.seed = "0", set when PHP starts
ini async.stack_size = "0", set when PHP starts
ini async.syntax = "1", set when PHP starts
ini async.time_slice_ms = "0", set when PHP starts
ini async.unawaited_warning_ms = "2000", set anywhere
ini async.virtual_time = "0", set when PHP starts
ini async.zombie_coroutine_timeout = "2", set anywhere
Conflicts: swoole
Conflicts: openswoole
Conflicts: swow
Optional: pdo
Optional: redis
Optional: mysqli
