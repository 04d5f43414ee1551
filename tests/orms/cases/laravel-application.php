<?php
// needs: php-laravel-framework

namespace Orms;

require_once 'Illuminate/autoload.php';

use Illuminate\Config\Repository;
use Illuminate\Database\DatabaseServiceProvider;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Foundation\Application;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Facade;
use Spindle\Eloquent\PoolServiceProvider;

final class Done extends Model
{
    public $timestamps = false;
    protected $table = 'done';
    protected $guarded = [];
    public $incrementing = false;
}

/** What an application calls: facades and models, which find their connection in static properties. */
final class Laravel implements Library
{
    public function transaction(\Closure $body): mixed
    {
        return DB::transaction($body, attempts: 2);
    }

    public function begin(): void
    {
        DB::beginTransaction();
    }

    public function rollBack(): void
    {
        DB::rollBack();
    }

    public function insert(int $n): void
    {
        Done::create(['n' => $n]);
        DB::afterCommit(static fn () => same([0, true], [DB::transactionLevel(), Done::where('n', $n)->exists()], 'level and row after the commit'));
    }

    public function count(int $n): int
    {
        return Done::where('n', $n)->count();
    }

    public function level(): int
    {
        return DB::transactionLevel();
    }
}

inApplication(static function (): Laravel {
    [$host, $port, $user, $password, $name] = server();
    $application = new Application(sys_get_temp_dir());
    $application->instance('config', new Repository(['database' => ['default' => 'main', 'connections' => ['main' => ['driver' => KIND, 'host' => $host, 'port' => $port,
        'username' => $user, 'password' => $password, 'database' => $name, 'prefix' => '', 'charset' => KIND === 'pgsql' ? 'utf8' : 'utf8mb4', 'strict' => true,
        'pool' => ['max' => MAX]]]]]));
    Facade::setFacadeApplication($application);
    // In the other order than Laravel, too, which registers its own before those that it finds.
    $application->register(PoolServiceProvider::class);
    $application->register(DatabaseServiceProvider::class);
    $application->boot();
    return new Laravel();
});
