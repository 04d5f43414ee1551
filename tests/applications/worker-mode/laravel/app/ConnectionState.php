<?php

namespace App;

use Illuminate\Support\Facades\{Cache, Config, DB, Log, Queue, Redis, Storage};

/** As State: what belongs to a connection, and what is made as the configuration of a request says. */
final class ConnectionState
{
    /** @return array<string, array{\Closure, \Closure}> */
    public static function kinds(): array
    {
        $by = static fn (string $key, array $configuration, \Closure $use) => [fn () => Config::set($key, $configuration) ?? $use(), fn () => self::tried($use)];
        $kinds = [
            'connection by configuration' => $by('database.connections.tenant', ['application_name' => 'tenant'] + Config::get('database.connections.pgsql'),
                fn () => DB::connection('tenant')->select('show application_name')[0]->application_name),
            'disk by configuration' => $by('filesystems.disks.tenant', ['driver' => 'local', 'root' => '/tmp'], fn () => Storage::disk('tenant')->path('')),
            'store by configuration' => $by('cache.stores.tenant', ['driver' => 'array'], fn () => Cache::store('tenant')->get('key', 'nothing')),
            'channel by configuration' => $by('logging.channels.tenant', ['driver' => 'errorlog'], fn () => Log::channel('tenant')->getLogger()->getHandlers()[0]::class),
            'queue by configuration' => $by('queue.connections.tenant', ['driver' => 'null'], fn () => Queue::connection('tenant')->push('job')),
            'connection that something refers to' => [fn () => (State::$connection = DB::connection('pgsql::write'))->select('select 1') && false ?: State::LATER, fn () => State::$connection?->getRawPdo() instanceof \PDO],
            'open connection' => [fn () => DB::select('select 1'), fn () => DB::connection()->getRawPdo() instanceof \Closure],
            'connection of the boot' => [fn () => DB::purge(), fn () => app('booted.connection') === DB::connection() && app('booted.connection')->getPdo() instanceof \PDO],
            'lost connection of the boot' => [fn () => rescue(fn () => DB::unprepared('select pg_terminate_backend(pg_backend_pid())'), report: false) ?? State::LATER,
                fn () => app('booted.connection')->select('select 1 as n')[0]->n],
            'setting of a session' => [fn () => DB::statement("select set_config('app.tenant', 'changed', false)"), fn () => DB::select("select current_setting('app.tenant', true) as t")[0]->t ?: ''],
            'time zone of a session' => [fn () => DB::statement("set time zone 'Asia/Tokyo'"), fn () => DB::select('show timezone')[0]->TimeZone],
            'temporary table' => [fn () => DB::statement('create temporary table users (id int)'), fn () => DB::table('users')->count()],
            'session that only reads' => [fn () => DB::statement('set session characteristics as transaction read only'), fn () => DB::select("select current_setting('default_transaction_read_only') as r")[0]->r],
            'pretending' => [fn () => rescue(fn () => DB::pretend(fn () => throw new \LogicException('in a dry run')), report: false), fn () => [DB::pretending(), count(DB::select('select 1'))]],
            'prefix of tables' => [fn () => DB::setTablePrefix('changed_'), fn () => [DB::getTablePrefix(), DB::table('notes')->toSql()]],
            'callback of a connection' => [fn () => DB::beforeExecuting(fn () => State::$before++), fn () => (DB::select('select 1') ? State::$before : 0) - State::$before = 0],
            'array cache of the boot' => [fn () => Cache::store('array')->put('booted', 'changed'), fn () => Cache::store('array')->get('booted')],
            'processor of a channel' => [fn () => Log::getLogger()->pushProcessor(self::processor()), fn () => self::logged('single')],
            'processor of a channel of the boot' => [fn () => Log::channel('booted')->getLogger()->pushProcessor(self::processor()), fn () => self::logged('booted')],
            'handler of a channel of the boot' => [fn () => Log::channel('booted')->getLogger()->pushHandler(new \Monolog\Handler\NullHandler()), fn () => count(Log::channel('booted')->getLogger()->getHandlers())],
            'context of a channel of the boot' => [fn () => Log::channel('booted')->withContext(['who' => 'changed']), fn () => self::logged('booted')],
        ];
        // One that is made in the boot has the configuration of that.
        $kinds += env('REDIS_PORT') && !app()->resolved('redis') ? ['Redis by configuration' => $by('database.redis.tenant', Config::get('database.redis.default'), fn () => get_debug_type(Redis::connection('tenant')))] : [];
        if (env('REDIS_CLIENT') === 'predis') {
            $predis = static fn () => Redis::connection('booted')->client();
            return $kinds + [
                'Predis: transaction' => [fn () => $predis()->multi() && false ?: State::LATER, fn () => (string) $predis()->ping()],
                'Predis: database' => [fn () => $predis()->select(5), fn () => self::number($predis())],
            ];
        }
        foreach (env('REDIS_PORT') ? ['default', 'booted'] : [] as $name) {
            $redis = static fn () => Redis::connection($name)->client();
            $kinds += [
                "Redis $name: transaction" => [fn () => $redis()->multi()->set('state', 'changed'), fn () => [$redis()->getMode(), $redis()->get('state')]],
                "Redis $name: pipeline" => [fn () => $redis()->pipeline()->set('state', 'changed') && false ?: State::LATER, fn () => [$redis()->getMode(), $redis()->get('state')]],
                "Redis $name: database" => [fn () => $redis()->select(5), fn () => self::number($redis())],
                "Redis $name: database by a raw command" => [fn () => $redis()->rawCommand('select', 5), fn () => self::number($redis())],
                "Redis $name: prefix" => [fn () => $redis()->setOption(\Redis::OPT_PREFIX, 'changed:'), fn () => $redis()->_prefix('key')],
                "Redis $name: serializer" => [fn () => $redis()->setOption(\Redis::OPT_SERIALIZER, \Redis::SERIALIZER_PHP), fn () => $redis()->_serialize(['a'])],
                // If the key were watched, it would not be set.
                "Redis $name: watch" => [fn () => $redis()->watch('watched') && false ?: State::LATER, fn () => [$redis()->set('watched', uniqid()), $redis()->multi()->set('state', 'seen')->exec(), $redis()->del('state')]],
            ];
        }
        return $kinds;
    }

    private static function tried(\Closure $use): mixed
    {
        try {
            return $use();
        } catch (\InvalidArgumentException $unknown) {
            return $unknown->getMessage();
        }
    }

    private static function processor(): \Closure
    {
        return static function ($record) {
            $record['extra'] += ['who' => 'changed'];
            return $record;
        };
    }

    private static function number(\Redis|\Predis\Client $redis): string
    {
        $ask = static fn (...$command) => $redis instanceof \Redis ? $redis->rawCommand(...$command) : $redis->executeRaw($command);
        preg_match('/ db=(\d+)/', $ask('client', 'list', 'id', $ask('client', 'id')), $found);
        return $found[1] . ($redis instanceof \Redis ? ' ' . $redis->getDbNum() : '');
    }

    /** What is in the log of a line that is logged now. */
    public static function logged(string $channel): string
    {
        Log::channel($channel)->info('looked at');
        return substr(strrchr(rtrim(file_get_contents(storage_path('logs/laravel.log'))), "\n") ?: '', 22);
    }
}
