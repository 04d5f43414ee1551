<?php

/** An application of Laravel, as it keeps what each process has one of in static properties: what this returns handles one request. */

namespace App;

use Illuminate\Contracts\Console\Kernel as ConsoleKernel;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Http\Kernel as HttpKernel;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Foundation\{Application, Exceptions\Handler};
use Illuminate\Http\Request;
use Illuminate\Support\Facades\{App, DB, Log, Queue, Route, Schema, Session, View};

require_once 'Illuminate/autoload.php';
foreach (['Foundation', 'Support', 'Collections'] as $part) {
    require_once "Illuminate/$part/helpers.php";
}

/** Lets another request run, as a query of a database does. */
function pause(): void
{
    usleep(random_int(0, 2000));
}

final class Note extends Model
{
    public $timestamps = false;
    protected $guarded = [];
    /** @var array<string, int> */
    public static array $created = [];

    protected static function booted(): void
    {
        static::created(static function (self $note): void {
            self::$created[$note->of] = (self::$created[$note->of] ?? 0) + 1;
        });
    }
}

final class Job
{
    public static ?string $handled = null;

    public function __construct(private string $for) {}

    public function handle(): void
    {
        pause();
        self::$handled = $this->for;
    }
}

final class Kernel extends \Illuminate\Foundation\Http\Kernel
{
    protected $middleware = [\Illuminate\Foundation\Http\Middleware\ConvertEmptyStringsToNull::class];
    protected $middlewareGroups = ['web' => [\Illuminate\Session\Middleware\StartSession::class, \Illuminate\View\Middleware\ShareErrorsFromSession::class,
        \Illuminate\Foundation\Http\Middleware\VerifyCsrfToken::class, \Illuminate\Routing\Middleware\SubstituteBindings::class]];
}

final class Routes extends \Illuminate\Foundation\Support\Providers\RouteServiceProvider
{
    public function boot(): void
    {
        Route::middleware('web')->group(function (): void {
            Route::get('/', function (Request $request) {
                $first = [$request->query('n'), request('n'), App::make('request')->query('n')];
                pause();
                return response()->json([...$first, request('n'), url('/there'), route('hello', ['name' => request('n')])]);
            });
            Route::get('/hello/{name}', fn (string $name) => pause() ?? "hello $name, " . request()->header('X-N'))->name('hello');
            Route::get('/count', function () {
                Session::put('count', Session::get('count', 0) + 1);
                pause();
                return session('count') . ' for ' . request('n');
            });
            Route::get('/notes/{of}', function (string $of) {
                $before = Note::$created[$of] ?? 0;
                Note::create(['of' => $of, 'text' => "one of $of"]);
                pause();
                Note::query()->insert([['of' => $of, 'text' => 'two'], ['of' => $of, 'text' => 'three']]);
                pause();
                $found = Note::where('of', $of)->orderBy('id')->pluck('text');
                Note::where('of', $of)->delete();
                return $found->join(', ') . ' ' . Note::$created[$of] - $before . ' ' . Note::where('of', $of)->count();
            });
            Route::get('/transaction/{of}', function (string $of) {
                $seen = [];
                try {
                    DB::transaction(function () use ($of, &$seen): void {
                        DB::table('notes')->insert(['of' => $of, 'text' => 'never']);
                        pause();
                        $seen[] = DB::transactionLevel() . DB::table('notes')->where('of', $of)->count();
                        throw new \DomainException('rolled back');
                    });
                } catch (\DomainException $thrown) {
                    $seen[] = $thrown->getMessage();
                }
                pause();
                DB::transaction(fn () => pause() ?? DB::table('notes')->insert(['of' => $of, 'text' => 'kept']));
                $seen[] = DB::transactionLevel() . DB::table('notes')->where('of', $of)->count();
                DB::table('notes')->where('of', $of)->delete();
                return $seen;
            });
            Route::get('/view/{of}', function (string $of) {
                View::share('shared', $of);
                pause();
                return view('note', ['of' => $of, 'list' => [1, 2, $of]]);
            });
            Route::get('/queued/{of}', function (string $of) {
                dispatch(new Job($of));
                $handled = Job::$handled;
                pause();
                return "$handled " . Job::$handled;
            });
            Route::get('/form', fn () => pause() ?? '<input name="token" value="' . csrf_token() . '"> ' . json_encode(session('errors')?->all()));
            Route::post('/form', function (Request $request) {
                pause();
                return $request->validate(['text' => 'required|string']);
            });
            Route::get('/fails', fn () => pause() ?? throw new \LogicException('fails for ' . request('n')));
            Route::get('/missing/{of}', fn (string $of) => pause() ?? abort(404, "no $of"));
            Route::get('/stream', fn () => response()->stream(static function (): void {
                echo 'streamed for ';
                pause();
                echo request('n');
            }));
            Route::get('/left/{of}', function (string $of): never {
                header('X-Left: yes');
                echo "left by $of";
                pause();
                exit;
            });
        });
        Route::post('/json', fn (Request $request) => pause() ?? $request->json()->all());
        parent::boot();
    }
}

/** Makes an application, with its database in memory. */
function boot(): HttpKernel
{
    $folder = WORK . '/laravel';
    foreach (['bootstrap/cache', 'config', 'resources/views', 'storage/framework/views', 'storage/framework/cache', 'storage/logs'] as $needed) {
        is_dir("$folder/$needed") || @mkdir("$folder/$needed", recursive: true);
    }
    $view = "$folder/resources/views/note.blade.php";
    is_file($view) || file_put_contents($view, "<p>{{ \$shared }} {{ \$of }}</p>@foreach (\$list as \$one)<li>{{ \$one }}@endforeach");
    $settings = [
        'app' => ['key' => 'base64:' . base64_encode(str_repeat('k', 32)), 'cipher' => 'AES-256-CBC', 'env' => 'production', 'debug' => false, 'url' => 'http://applications.test',
            'timezone' => 'UTC', 'locale' => 'en', 'fallback_locale' => 'en', 'aliases' => [],
            'providers' => [\Illuminate\Bus\BusServiceProvider::class, \Illuminate\Cache\CacheServiceProvider::class, \Illuminate\Cookie\CookieServiceProvider::class,
                \Illuminate\Database\DatabaseServiceProvider::class, \Illuminate\Encryption\EncryptionServiceProvider::class, \Illuminate\Filesystem\FilesystemServiceProvider::class,
                \Illuminate\Foundation\Providers\FoundationServiceProvider::class, \Illuminate\Queue\QueueServiceProvider::class, \Illuminate\Session\SessionServiceProvider::class,
                \Illuminate\Translation\TranslationServiceProvider::class, \Illuminate\Validation\ValidationServiceProvider::class, \Illuminate\View\ViewServiceProvider::class, Routes::class]],
        'cache' => ['default' => 'array', 'stores' => ['array' => ['driver' => 'array']], 'prefix' => ''],
        'database' => ['default' => 'memory', 'connections' => ['memory' => ['driver' => 'sqlite', 'database' => ':memory:', 'prefix' => '']], 'migrations' => 'migrations'],
        'filesystems' => ['default' => 'local', 'disks' => ['local' => ['driver' => 'local', 'root' => $folder]]],
        'logging' => ['default' => 'none', 'channels' => ['none' => ['driver' => 'monolog', 'handler' => \Monolog\Handler\NullHandler::class]]],
        'queue' => ['default' => 'sync', 'connections' => ['sync' => ['driver' => 'sync']]],
        'session' => ['driver' => 'file', 'lifetime' => 120, 'expire_on_close' => true, 'encrypt' => false, 'files' => WORK . '/sessions', 'connection' => null, 'table' => 'sessions',
            'store' => null, 'lottery' => [0, 100], 'cookie' => 'PHPSESSID', 'path' => '/', 'domain' => null, 'secure' => false, 'http_only' => true, 'same_site' => 'lax'],
        'view' => ['paths' => ["$folder/resources/views"], 'compiled' => "$folder/storage/framework/views"],
    ];
    foreach ($settings as $name => $of) {
        is_file("$folder/config/$name.php") || file_put_contents("$folder/config/$name.php", '<?php return ' . var_export($of, true) . ';', LOCK_EX);
    }
    $application = new Application($folder);
    $application->singleton(HttpKernel::class, Kernel::class);
    $application->singleton(ConsoleKernel::class, \Illuminate\Foundation\Console\Kernel::class);
    $application->singleton(ExceptionHandler::class, Handler::class);
    $kernel = $application->make(HttpKernel::class);
    $kernel->bootstrap();
    Schema::create('notes', static function ($table): void {
        $table->increments('id');
        $table->string('of');
        $table->string('text');
    });
    return $kernel;
}

/** Where applications keep what each process has one of. */
final class Process
{
    public static ?HttpKernel $kernel = null;
}

return static function (): void {
    $kernel = Process::$kernel ??= boot();
    $request = Request::capture();
    $response = $kernel->handle($request);
    $response->send();
    $kernel->terminate($request, $response);
    // As Laravel's own server does between requests.
    app()->forgetScopedInstances();
    $session = app('session')->driver();
    $session->flush();
    $session->regenerate();
};
