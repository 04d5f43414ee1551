<?php

namespace App;

use Illuminate\Support\Facades\{App, Auth, Cache, Config, Cookie, DB, Event, Gate, Hash, Lang, Log, Mail, Notification, Queue, Route, Session, URL, Validator, View};
use Illuminate\Support\Str;

/** What a request can change that the next one must not see: for each kind a function that changes it, and one that tells what is to be seen. */
final class State
{
    /** What a function returns if its change cannot be seen yet. */
    public const LATER = 'later';

    /** How many requests this instance has handled. */
    public static int $handled = 0;
    public static int $terminated = 0;
    public static int $before = 0;
    public static ?\Illuminate\Database\Connection $connection = null;

    /** @return array<string, array{\Closure, \Closure}> */
    public static function kinds(): array
    {
        return ConnectionState::kinds() + StaticState::kinds() + [
            'configuration' => [fn () => Config::set('app.name', 'changed'), fn () => config('app.name')],
            'instance' => [fn () => App::instance('thing', 'changed'), fn () => App::bound('thing')],
            'binding' => [fn () => App::bind(Counter::class, fn () => new Counter(7)), fn () => app(Counter::class)->count],
            'extended' => [fn () => App::extend(Counter::class, fn () => new Counter(8)), fn () => app(Counter::class)->count],
            'singleton' => [fn () => app('counter.singleton')->count++, fn () => app('counter.singleton')->count],
            'scoped' => [fn () => app('counter.scoped')->count++, fn () => app('counter.scoped')->count],
            'flushed' => [fn () => app('counter.flushed')->count++, fn () => app('counter.flushed')->count],
            'provider' => [fn () => App::register(LateServiceProvider::class), fn () => [App::bound('late'), count(App::getLoadedProviders())]],
            'locale' => [fn () => App::setLocale('de'), fn () => [__('words.hello'), App::getLocale(), now()->locale(), \Carbon\Carbon::getLocale()]],
            'fallback' => [fn () => Lang::setFallback('de'), fn () => Lang::getFallback()],
            'lines' => [fn () => Lang::addLines(['words.more' => 'changed'], 'en'), fn () => __('words.more')],
            'root' => [fn () => URL::forceRootUrl('http://changed.test'), fn () => url('/there')],
            'scheme' => [fn () => URL::forceScheme('https'), fn () => url('/there')],
            'url defaults' => [fn () => URL::defaults(['name' => 'changed']), fn () => URL::getDefaultParameters()],
            'session' => [fn () => Session::put('key', 'changed'), fn () => [Session::get('key'), session('key')]],
            'session driver' => [fn () => Session::setDefaultDriver('array'), fn () => Session::getDefaultDriver()],
            'user' => [fn () => Auth::login(User::first()), fn () => [Auth::id(), Auth::check(), request()->user()?->name]],
            'user once' => [fn () => Auth::onceUsingId(2), fn () => Auth::user()?->name],
            'guard' => [fn () => Auth::shouldUse('other'), fn () => Auth::getDefaultDriver()],
            'gate' => [fn () => Gate::define('do', fn () => true), fn () => Gate::has('do')],
            'gate of the user' => [fn () => Gate::before(fn () => true), fn () => Gate::forUser(new User())->allows('anything')],
            'queued cookie' => [fn () => Cookie::queue('left', 'changed'), fn () => count(Cookie::getQueuedCookies())],
            'shared with views' => [fn () => View::share('shared', 'changed'), fn () => View::shared('shared')],
            'views' => [fn () => View::addLocation(storage_path()), fn () => count(View::getFinder()->getPaths())],
            'log context' => [fn () => Log::withContext(['who' => 'changed']), fn () => ConnectionState::logged('single')],
            'query log' => [fn () => DB::enableQueryLog() ?? DB::table('users')->count(), fn () => [DB::logging(), DB::getQueryLog()]],
            'written' => [fn () => DB::connection()->recordsHaveBeenModified(), fn () => DB::connection()->hasModifiedRecords()],
            'transaction' => [fn () => DB::beginTransaction() ?? DB::table('notes')->insert(['of' => 'state', 'text' => 'never']),
                fn () => [DB::transactionLevel(), DB::table('notes')->where('of', 'state')->count()]],
            'transactions within another' => [fn () => DB::beginTransaction() ?? DB::beginTransaction() ?? DB::table('notes')->insert(['of' => 'state', 'text' => 'never']),
                fn () => [DB::transactionLevel(), DB::getPdo()->inTransaction(), DB::table('notes')->where('of', 'state')->count()]],
            'transaction of PDO' => [fn () => DB::getPdo()->beginTransaction(), fn () => DB::getPdo()->inTransaction()],
            'after a commit' => [fn () => DB::beginTransaction() ?? DB::afterCommit(fn () => self::$terminated++) ?? self::LATER, fn () => DB::transaction(fn () => self::$terminated) + self::$terminated],
            'array cache' => [fn () => Cache::store('array')->put('key', 'changed'), fn () => [Cache::store('array')->get('key'), cache('key')]],
            'lost connection' => [fn () => DB::beginTransaction() ?? rescue(fn () => DB::select('select pg_terminate_backend(pg_backend_pid())'), report: false) ?? self::LATER,
                fn () => [DB::transactionLevel(), DB::table('users')->count()]],
            'deferred provider' => [fn () => app('deferred') && false ?: self::LATER, fn () => count(Event::getListeners('asked'))],
            'user of another guard' => [fn () => Auth::guard('other')->setUser(User::first()), fn () => Auth::guard('other')->check()],
            'guard as a service' => [fn () => self::LATER, fn () => app('auth.driver') === Auth::guard() ?: throw new \LogicException('that is not the guard')],
            'strings' => [fn () => Str::snake('leftByAnother'), fn () => isset((new \ReflectionProperty(Str::class, 'snakeCache'))->getValue()['leftByAnother'])],
            'request' => [fn () => request()->merge(['added' => 'changed']), fn () => [request('added'), app('request')->all()]],
            'validation rule' => [fn () => Validator::extend('odd', fn () => true), function () {
                try {
                    return Validator::make(['a' => 1], ['a' => 'odd'])->passes();
                } catch (\BadMethodCallException) {
                    return 'unknown';
                }
            }],
            'unguarded' => [fn () => Note::unguard(), fn () => \Illuminate\Database\Eloquent\Model::isUnguarded()],
            'morph map' => [fn () => \Illuminate\Database\Eloquent\Relations\Relation::morphMap(['note' => Note::class]), fn () => \Illuminate\Database\Eloquent\Relations\Relation::morphMap()],
            'wrap' => [fn () => \Illuminate\Http\Resources\Json\JsonResource::withoutWrapping(), fn () => \Illuminate\Http\Resources\Json\JsonResource::$wrap],
            'page' => [fn () => \Illuminate\Pagination\Paginator::currentPageResolver(fn () => 77), fn () => \Illuminate\Pagination\Paginator::resolveCurrentPage()],
            'route' => [fn () => Route::get('/changed', fn () => 1), fn () => count(Route::getRoutes()->getRoutes())],
            'middleware' => [fn () => Route::pushMiddlewareToGroup('web', \Illuminate\Http\Middleware\FrameGuard::class), fn () => Route::getMiddlewareGroups()['web']],
            'mail driver' => [fn () => Mail::setDefaultDriver('changed'), fn () => Mail::getDefaultDriver()],
            'mailer' => [fn () => Mail::alwaysTo('changed@applications.test'), fn () => isset(((array) Mail::mailer())["\0*\0to"])],
            'channel' => [fn () => Notification::deliverVia('changed'), fn () => Notification::deliversVia()],
            'queue' => [fn () => Queue::fake(), fn () => app('queue')::class],
            'facade' => [fn () => Hash::swap('changed'), fn () => get_debug_type(Hash::getFacadeRoot())],
            'terminating' => [function () {
                $now = request();
                App::terminating(fn () => request() === $now || self::$terminated++);
                return self::LATER;
            }, fn () => self::$terminated - self::$terminated = 0],
        ];
    }
}
