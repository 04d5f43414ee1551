<?php

/**
 * Many coroutines over few connections to a database, which are lost now and then.
 *
 *     php -d extension=build/spindle.so examples/pdo-pool.php [coroutines] [connections]
 *
 * The environment names a PostgreSQL server: DB_DSN, DB_USER, DB_PASSWORD. Without DB_DSN it is SQLite, in a temporary file.
 *
 * Each coroutine transfers money between two accounts in a transaction, as a handler of a request would: code for one
 * connection, with an ordinary `PDO` in its signature. Meanwhile another coroutine ends connections at random on the server. A
 * transfer whose connection was lost begins again; money is neither lost nor made.
 */

declare(strict_types=1);

use Async\PooledPDO;
use function Async\{await, delay, spawn};

const ACCOUNTS = 40;
const ATTEMPTS = 100;

/** Knows nothing of coroutines or pools. */
final class Bank
{
    public function __construct(private readonly PDO $db)
    {
    }

    public function open(int $accounts, int $amount): void
    {
        $this->db->exec('drop table if exists transfers');
        $this->db->exec('drop table if exists accounts');
        $this->db->exec('create table accounts (id integer primary key, amount integer not null)');
        $this->db->exec('create table transfers (id integer primary key, source integer, target integer, amount integer)');
        $insert = $this->db->prepare('insert into accounts values (?, ?)');
        for ($id = 0; $id < $accounts; $id++) {
            $insert->execute([$id, $amount]);
        }
    }

    /** Returns false if it was made before. */
    public function transfer(int $id, int $source, int $target, int $amount): bool
    {
        $this->db->beginTransaction();
        try {
            $update = $this->db->prepare('update accounts set amount = amount + ? where id = ?');
            // Always in the same order, so that two transfers do not wait for each other.
            foreach ($source < $target ? [$source, $target] : [$target, $source] as $account) {
                $update->execute([$account === $source ? -$amount : $amount, $account]);
            }
            $this->db->exec("insert into transfers values ($id, $source, $target, $amount)");
            $this->db->commit();
            return true;
        } catch (PDOException $e) {
            if ($this->db->inTransaction()) {
                $this->db->rollBack();
            }
            if ($e->getCode() === '23505') {
                return false; // the connection was lost after the server had committed
            }
            throw $e;
        }
    }

    /** @return array{int, int, int} the money, the number of transfers, and how many accounts disagree with these */
    public function audit(int $amount): array
    {
        $wrong = "select count(*) from accounts a where amount <> $amount
            - (select coalesce(sum(amount), 0) from transfers t where t.source = a.id)
            + (select coalesce(sum(amount), 0) from transfers t where t.target = a.id)";
        $number = fn(string $sql): int => (int) $this->db->query($sql)->fetchColumn();
        return [$number('select sum(amount) from accounts'), $number('select count(*) from transfers'), $number($wrong)];
    }
}

/** Ends a random connection of this database now and then. Returns how many. */
function disturb(PDO $admin, bool &$stop): int
{
    $sql = "select count(pg_terminate_backend(pid)) from (select pid from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() order by random() limit 1) victim";
    for ($ended = 0; !$stop; delay(20)) {
        $ended += (int) $admin->query($sql)->fetchColumn();
    }
    return $ended;
}

$coroutines = (int) ($argv[1] ?? 1000);
$connections = (int) ($argv[2] ?? 10);
$file = tempnam(sys_get_temp_dir(), 'pdo-pool-');
$dsn = getenv('DB_DSN') ?: "sqlite:$file";
$credentials = [getenv('DB_USER') ?: null, getenv('DB_PASSWORD') ?: null];
$is_sqlite = str_starts_with($dsn, 'sqlite:');

$db = new PooledPDO($dsn, ...$credentials, max: $connections);
if ($is_sqlite) {
    $db->setAttribute(PDO::ATTR_TIMEOUT, 60);
}
$bank = new Bank($db);
$bank->open(ACCOUNTS, 1000);

$stop = false;
$disturbance = $is_sqlite ? null : spawn(function () use ($dsn, $credentials, &$stop): int {
    return disturb(new PDO($dsn, ...$credentials), $stop);
});
$retries = $crossed = $gave_up = 0;
$transfers = [];
for ($id = 0; $id < $coroutines; $id++) {
    $transfers[] = spawn(function () use ($db, $bank, $id, &$retries, &$crossed, &$gave_up): void {
        for ($attempt = 0; $attempt < ATTEMPTS; $attempt++) {
            try {
                $crossed += (int) ($db->query("select $id")->fetchColumn() != $id); // another one's answer
                $bank->transfer($id, $id % ACCOUNTS, ($id * 7 + 3) % ACCOUNTS, $id % 10);
                return;
            } catch (PDOException) {
                $retries++;
            }
        }
        $gave_up++;
    });
}
foreach ($transfers as $transfer) {
    await($transfer);
}
$stop = true;
$ended = $disturbance ? await($disturbance) : 0;
for ($attempt = 0; ; $attempt++) {
    try {
        [$money, $made, $wrong] = $bank->audit(1000);
        break;
    } catch (PDOException $e) {
        $attempt < $connections || throw $e; // one that was ended while nobody used it
    }
}
$db->pool->close();
unlink($file);

printf("%d transfers by %d coroutines over %d connections\n", $made, $coroutines, $connections);
printf("%d connections were ended, %d attempts failed\n", $ended, $retries);
$is_right = $money === ACCOUNTS * 1000 && $made === $coroutines && $wrong + $crossed + $gave_up === 0;
printf("money: %d, wrong accounts: %d, answers of others: %d, given up: %d\n", $money, $wrong, $crossed, $gave_up);
printf("connections in use at the end: %d, of %d\n", $db->pool->activeCount(), count($db->pool));
exit($is_right && count($db->pool) === 0 ? 0 : 1);
