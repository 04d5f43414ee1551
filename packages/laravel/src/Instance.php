<?php

declare(strict_types=1);

namespace Spindle\Laravel;

use Illuminate\Cache\{ArrayStore, CacheManager};
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Http\Kernel;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bootstrap\{RegisterProviders, SetRequestForConsole};
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Facade;
use Symfony\Component\ErrorHandler\Error\FatalError;

/**
 * A Laravel application that is booted once, and handles one request after the other.
 *
 * After each request the application and Laravel's own services are what they were after the boot: the container's instances and
 * bindings, configuration, session, guards, URL generator, views, translator and the rest, by a snapshot of their properties.
 * What a request has resolved is gone then, unless the boot had resolved it. This is the state that Octane gives a request, but
 * the application is always the same object, so nothing can be left with that of an earlier request.
 */
final class Instance
{
    /**
     * Services that are made in the boot, if they are bound, so that they stay: most keep connections, or what is costly to make
     * again. Those of an application are added by the setting `spindle.warm`.
     */
    private const WARM = ['auth', 'cache', 'cookie', 'db', 'db.transactions', 'events', 'files', 'filesystem', 'hash', 'log', 'queue', 'redis', 'router',
        'session', 'translator', 'url', 'validator', 'view'];

    /**
     * What a request changes of these stays: they hold connections, channels and disks, or what is registered once by code that
     * remembers this elsewhere, as models do with their listeners. What belongs to one request in them is reset one by one.
     */
    private const KEPT = [
        CacheManager::class, \Illuminate\Contracts\Cache\Store::class, \Illuminate\Contracts\Events\Dispatcher::class,
        \Illuminate\Contracts\Queue\Queue::class, \Illuminate\Database\ConnectionInterface::class, \Illuminate\Database\ConnectionResolverInterface::class,
        \Illuminate\Filesystem\FilesystemManager::class, \Illuminate\Contracts\Filesystem\Filesystem::class, \Illuminate\Log\LogManager::class,
        \Psr\Log\LoggerInterface::class, \Illuminate\Queue\QueueManager::class, \Illuminate\Contracts\Redis\Factory::class,
        \Illuminate\Contracts\Redis\Connection::class, \Illuminate\Routing\Route::class,
    ];

    /** Static properties that applications set in a request; those of paginators are functions that find the current page. */
    private const STATICS = [
        \Illuminate\Database\Eloquent\Model::class => ['unguarded'],
        \Illuminate\Database\Eloquent\Relations\Relation::class => ['morphMap'],
        \Illuminate\Http\Resources\Json\JsonResource::class => ['wrap'],
        \Illuminate\Pagination\AbstractPaginator::class => ['currentPathResolver', 'currentPageResolver', 'queryStringResolver', 'viewFactoryResolver', 'defaultView',
            'defaultSimpleView'],
    ];

    private readonly Kernel $kernel;
    private readonly Snapshot $booted;
    /** @var list<array{\ReflectionProperty, mixed}> */
    private readonly array $statics;
    private readonly string $locale;

    private function __construct(private readonly Application $app)
    {
        // The request that is there before any has come. Providers may ask for it, as for the URL generator.
        $app->beforeBootstrapping(RegisterProviders::class, static fn (Application $app) => (new SetRequestForConsole())->bootstrap($app));
        $this->kernel = $app->make(Kernel::class);
        $this->kernel->bootstrap();
        $app->loadDeferredProviders();
        foreach ([...self::WARM, ...$app->make('config')->get('spindle.warm', [])] as $service) {
            $app->bound($service) && $app->make($service);
        }
        $this->locale = \Carbon\Carbon::getLocale();
        $this->statics = self::statics();
        $this->booted = new Snapshot($app, self::belongs(...));
    }

    /** Boots the application in this folder. */
    public static function boot(string $folder): self
    {
        // PHP is the one of the command line, from which Laravel would conclude that there is no request, and dd() that there is a
        // terminal. As it is no text, it is not in the environment of programs that the application starts.
        $_ENV['APP_RUNNING_IN_CONSOLE'] = false;
        $_SERVER['VAR_DUMPER_FORMAT'] ??= 'html';
        // As the directory of the script, which is a web server's choice.
        is_dir("$folder/public") && chdir("$folder/public");
        return new self(require "$folder/bootstrap/app.php");
    }

    /** Handles the request that the superglobals tell of, and sends the response. */
    public function __invoke(): void
    {
        register_shutdown_function($this->reportFatalError(...));
        $request = Request::capture();
        $this->app->instance('request', $request);
        $response = $this->kernel->handle($request);
        $response->send();
        $this->kernel->terminate($request, $response);
        $this->reset($request);
    }

    /**
     * Has a fatal error reported and answered by the application's handler. That of Laravel itself is called when the instance
     * ends, after the request.
     */
    private function reportFatalError(): void
    {
        $error = error_get_last();
        if ($error !== null && in_array($error['type'], [E_ERROR, E_PARSE, E_CORE_ERROR, E_COMPILE_ERROR], true)) {
            error_clear_last();
            $handler = $this->app->make(ExceptionHandler::class);
            $handler->report($fatal = new FatalError($error['message'], 0, $error, 0));
            headers_sent() || $handler->render($this->app->make('request'), $fatal)->send();
        }
    }

    private function reset(Request $request): void
    {
        $app = $this->app;
        // Not every application has all providers.
        $app->resolved('db') && $this->resetConnections();
        $this->resetLog();
        $cache = $app->resolved('cache') ? $app->make('cache') : null;
        foreach ($cache instanceof CacheManager ? (new \ReflectionProperty($cache, 'stores'))->getValue($cache) : [] as $store) {
            $store->getStore() instanceof ArrayStore && $store->getStore()->flush();
        }
        $route = $request->route();
        if ($route instanceof \Illuminate\Routing\Route && method_exists($route, 'flushController')) {
            $route->flushController();
        }
        $flushed = $app->make('config')->get('spindle.flush', []);
        $this->booted->restore();
        $app->resolved('auth') && $app->make('auth')->forgetGuards();
        $app->forgetInstance('auth.driver');
        $app->forgetScopedInstances();
        foreach ($flushed as $service) {
            $app->forgetInstance($service);
        }
        foreach ($this->statics as [$property, $value]) {
            $property->setValue(null, $value);
        }
        \Carbon\Carbon::setLocale($this->locale);
        \Illuminate\Support\Str::flushCache();
        class_exists(\Illuminate\Support\Once::class) && \Illuminate\Support\Once::flush();
        Facade::clearResolvedInstances();
    }

    /** Rolls back what the request has left open, and forgets what a connection knows of it. */
    private function resetConnections(): void
    {
        foreach ($this->app->make('db')->getConnections() as $name => $connection) {
            $pdo = $connection->getRawPdo();
            if ($connection->transactionLevel() > 0 || ($pdo instanceof \PDO && $pdo->inTransaction())) {
                $this->app->make('log')->warning("A request has left a transaction open on the connection $name: it is rolled back");
                try {
                    $connection->transactionLevel() > 0 ? $connection->rollBack(0) : $pdo->rollBack();
                } catch (\Throwable) {
                    $this->app->make('db')->purge($name);
                    continue;
                }
            }
            $connection->flushQueryLog();
            $connection->disableQueryLog();
            $connection->forgetRecordModificationState();
            if (method_exists($connection, 'resetTotalQueryDuration')) {
                $connection->resetTotalQueryDuration();
                $connection->allowQueryDurationHandlersToRunAgain();
            }
        }
    }

    private function resetLog(): void
    {
        $log = $this->app->make('log');
        method_exists($log, 'flushSharedContext') && $log->flushSharedContext();
        foreach ($log->getChannels() as $channel) {
            method_exists($channel, 'withoutContext') && $channel->withoutContext();
            $logger = method_exists($channel, 'getLogger') ? $channel->getLogger() : $channel;
            $logger instanceof \Monolog\ResettableInterface && $logger->reset();
        }
    }

    /** Whether an object is one of Laravel's, or made from one of its classes, and is to be as it was after the boot. */
    private static function belongs(object $object): bool
    {
        foreach (self::KEPT as $kept) {
            if ($object instanceof $kept) {
                return false;
            }
        }
        foreach ([$object::class, ...class_parents($object)] as $class) {
            if (str_starts_with($class, 'Illuminate\\') || str_starts_with($class, 'Laravel\\')) {
                return true;
            }
        }
        return false;
    }

    /** @return list<array{\ReflectionProperty, mixed}> */
    private static function statics(): array
    {
        $found = [];
        foreach (self::STATICS as $class => $names) {
            foreach ($names as $name) {
                if (property_exists($class, $name)) {
                    $property = new \ReflectionProperty($class, $name);
                    $property->isStatic() && $found[] = [$property, $property->getValue()];
                }
            }
        }
        return $found;
    }
}
