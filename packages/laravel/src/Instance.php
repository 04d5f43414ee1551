<?php

declare(strict_types=1);

namespace Spindle\Laravel;

use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Http\Kernel;
use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bootstrap\{RegisterProviders, SetRequestForConsole};
use Illuminate\Http\Request;
use Illuminate\Routing\{CompiledRouteCollection, Route};
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
     * Services that are made in the boot, if they are bound, so that they stay: what is costly to make again. Those of an application
     * are added by the setting `spindle.warm`.
     */
    private const WARM = ['auth', 'cache', 'cookie', 'db', 'db.transactions', 'events', 'files', 'filesystem', 'hash', 'log', 'queue', 'router', 'session',
        'translator', 'url', 'validator', 'view'];

    /** What a request changes of these stays: code that registers a listener remembers this elsewhere, as models do. */
    private const KEPT = [\Illuminate\Contracts\Events\Dispatcher::class, Route::class];

    private readonly Kernel $kernel;
    private readonly Snapshot $booted;
    private readonly Connections $connections;
    private readonly GlobalScopes $scopes;
    private readonly Statics $statics;

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
        $this->forgetControllers();
        $this->scopes = new GlobalScopes($app->make('events'));
        $this->statics = new Statics();
        $this->connections = new Connections($app);
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
        $this->reset();
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

    private function reset(): void
    {
        $app = $this->app;
        $this->connections->close();
        foreach ($app->make('log')->getChannels() as $channel) {
            $logger = method_exists($channel, 'getLogger') ? $channel->getLogger() : $channel;
            $logger instanceof \Monolog\ResettableInterface && $logger->reset();
        }
        $flushed = $app->make('config')->get('spindle.flush', []);
        $this->booted->restore();
        $this->forgetControllers();
        $app->resolved('auth') && $app->make('auth')->forgetGuards();
        $app->forgetInstance('auth.driver');
        $app->forgetScopedInstances();
        foreach ($flushed as $service) {
            $app->forgetInstance($service);
        }
        $this->scopes->restore();
        $this->statics->restore();
        $this->connections->restore() || exit;
    }

    /** A route keeps its controller, which may have the request that it was made for, also if another request has only looked at the route. */
    private function forgetControllers(): void
    {
        $routes = $this->app->make('router')->getRoutes();
        if ($routes instanceof CompiledRouteCollection) {
            // It makes the routes of the cache anew for each match, but keeps those that were added to it.
            $routes = (new \ReflectionProperty(CompiledRouteCollection::class, 'routes'))->getValue($routes);
        }
        foreach ($routes->getRoutes() as $route) {
            $route->controller && $route->flushController();
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
            if ($class === \Monolog\Logger::class || str_starts_with($class, 'Illuminate\\') || str_starts_with($class, 'Laravel\\')) {
                return true;
            }
        }
        return false;
    }
}
