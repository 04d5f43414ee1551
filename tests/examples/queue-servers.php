<?php
/*
 * The queues that queues.php works, as their clients and their servers see them.
 */

declare(strict_types=1);

namespace Examples;

use PhpAmqpLib\Channel\AMQPChannel;
use PhpAmqpLib\Connection\AMQPStreamConnection;
use PhpAmqpLib\Exception\AMQPProtocolChannelException;
use PhpAmqpLib\Message\AMQPMessage;

interface Queue
{
    /** @return list<string> options of PHP for the worker */
    public function settings(): array;
    /** @return array<string, string> */
    public function environment(): array;
    /** Whether jobs can be put in. */
    public function is_there(): bool;
    public function put(string ...$jobs): void;
    /** How many jobs are neither done nor put aside. */
    public function left(): int;
    /** @return list<string> the jobs that were put aside */
    public function dead(): array;
}

/** A queue whose jobs are leased. */
interface Leased extends Queue
{
    /** Milliseconds of a lease of 3000 that are left, while it is the job's first. */
    public function remains(string $job): int;
    /** Takes the job, as another worker does. */
    public function rob(string $job): void;
}

final class RedisQueue implements Leased
{
    private readonly \Redis $redis;

    public function __construct()
    {
        $this->redis = new \Redis();
        $this->redis->connect(getenv('SPINDLE_REDIS_HOST'), (int) getenv('SPINDLE_REDIS_PORT'));
        $this->redis->flushAll();
    }

    public function settings(): array
    {
        return [];
    }

    public function environment(): array
    {
        return ['REDIS' => getenv('SPINDLE_REDIS_HOST') . ':' . getenv('SPINDLE_REDIS_PORT')];
    }

    public function is_there(): bool
    {
        return (bool) $this->redis->exists('jobs');
    }

    public function put(string ...$jobs): void
    {
        array_map(fn (string $job) => $this->redis->xAdd('jobs', '*', ['body' => $job]), $jobs);
    }

    public function left(): int
    {
        return $this->redis->xLen('jobs');
    }

    public function dead(): array
    {
        return array_column($this->redis->xRange('jobs.dead', '-', '+'), 'body');
    }

    public function remains(string $job): int
    {
        [[, , $idle, $times]] = $this->redis->xPending('jobs', 'workers', '-', '+', 1);
        return $times === 1 ? 3000 - $idle : 0;
    }

    public function rob(string $job): void
    {
        $this->redis->xClaim('jobs', 'workers', 'another', 0, [array_key_first($this->redis->xRange('jobs', '-', '+'))], []);
    }
}

final class PostgresQueue implements Leased
{
    private readonly \PDO $db;

    public function __construct()
    {
        $this->db = new \PDO(getenv('SPINDLE_PG_DSN'));
        $this->db->exec('drop table if exists jobs, effects; create table effects (body text)');
        // As the program tells its users.
        preg_match_all('/^ \*     (create .*;)$/m', file_get_contents(ROOT . '/examples/queue-postgres.php'), $schema);
        array_map($this->db->exec(...), $schema[1]);
    }

    public function settings(): array
    {
        return [];
    }

    public function environment(): array
    {
        return ['DB_DSN' => getenv('SPINDLE_PG_DSN')];
    }

    public function is_there(): bool
    {
        return true;
    }

    public function put(string ...$jobs): void
    {
        $this->db->beginTransaction();
        $insert = $this->db->prepare('insert into jobs (body) values (?)');
        array_map(static fn (string $job) => $insert->execute([$job]), $jobs);
        $this->db->exec('notify jobs');
        $this->db->commit();
    }

    public function left(): int
    {
        return $this->db->query("select count(*) from jobs where due <> 'infinity'")->fetchColumn();
    }

    public function dead(): array
    {
        return $this->db->query("select body from jobs where due = 'infinity'")->fetchAll(\PDO::FETCH_COLUMN);
    }

    public function remains(string $job): int
    {
        $query = $this->db->prepare('select 1000 * extract(epoch from due - clock_timestamp()) from jobs where body = ? and tries = 1');
        $query->execute([$job]);
        return (int) $query->fetchColumn();
    }

    public function rob(string $job): void
    {
        $this->db->prepare("update jobs set tries = tries + 1, due = now() + interval '1 hour' where body = ?")->execute([$job]);
    }

    /** Ends the connections that wait in a transaction, and returns how many. */
    public function cut(): int
    {
        return $this->db->query("select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'")->rowCount();
    }

    /** @return array<string, int> how often what each job has written was committed */
    public function effects(): array
    {
        return array_count_values($this->db->query('select body from effects')->fetchAll(\PDO::FETCH_COLUMN));
    }
}

final class RabbitQueue implements Queue
{
    private readonly AMQPStreamConnection $connection;

    public function __construct()
    {
        require_once '/usr/share/php/PhpAmqpLib/autoload.php';
        $this->connection = $this->connect();
        foreach (['jobs', 'jobs.dead'] as $name) {
            $this->connection->channel()->queue_delete($name);
        }
    }

    private function connect(int $heartbeat = 0): AMQPStreamConnection
    {
        return new AMQPStreamConnection('127.0.0.1', (int) getenv('SPINDLE_RABBITMQ_PORT'), 'guest', 'guest', heartbeat: $heartbeat, read_write_timeout: 130);
    }

    public function settings(): array
    {
        return ['-d', 'extension=amqp'];
    }

    public function environment(): array
    {
        return ['RABBITMQ' => '127.0.0.1:' . getenv('SPINDLE_RABBITMQ_PORT')];
    }

    /** How many messages are ready, and no worker has them; null: there is no such queue. */
    private function ready(string $name): ?int
    {
        $channel = $this->connection->channel();
        try {
            $ready = $channel->queue_declare($name, passive: true)[1];
            $channel->close();
            return $ready;
        } catch (AMQPProtocolChannelException) {
            return null;
        }
    }

    public function is_there(): bool
    {
        return $this->ready('jobs') !== null;
    }

    public function put(string ...$jobs): void
    {
        $channel = $this->connection->channel();
        $channel->confirm_select();
        $refused = []; // a queue that was just declared takes none for a moment
        $channel->set_nack_handler(static function (AMQPMessage $message) use (&$refused): void {
            $refused[] = $message->getBody();
        });
        foreach ($jobs as $job) {
            $channel->basic_publish(new AMQPMessage($job, ['delivery_mode' => 2, 'message_id' => $job]), '', 'jobs');
        }
        $channel->wait_for_pending_acks(120);
        $channel->close();
        $refused === [] || $this->put(...$refused);
    }

    public function left(): int
    {
        return $this->ready('jobs');
    }

    public function dead(): array
    {
        $channel = $this->connection->channel();
        $found = [];
        while ($message = $channel->basic_get('jobs.dead')) {
            $found[] = $message->getBody();
        }
        $channel->close(); // which puts them back
        return $found;
    }

    /** Waits until the server ends a connection because it has heard nothing of it. */
    public function wait_for_the_cut_of_a_silent_one(int $heartbeat): void
    {
        $connection = $this->connect($heartbeat);
        $socket = $connection->getIO()->getSocket();
        stream_set_blocking($socket, true);
        stream_set_timeout($socket, 120);
        for ($bytes = '-'; $bytes !== '' && $bytes !== false;) {
            $bytes = fread($socket, 8192);
        }
        stream_get_meta_data($socket)['eof'] || throw new \Exception('a silent connection is not cut: ' . json_encode(stream_get_meta_data($socket)));
    }
}

/** A new queue of the kind that a program works. */
function queue(string $program): Queue
{
    servers($program);
    return match ($program) {
        'redis' => new RedisQueue(),
        'postgres' => new PostgresQueue(),
        'rabbitmq' => new RabbitQueue(),
    };
}
