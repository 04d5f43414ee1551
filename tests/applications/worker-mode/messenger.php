<?php

/** An application on Symfony's kernel that handles messages, which are in the PostgreSQL of scripts/servers, or in its Redis (APP_ENV). */

namespace App;

use Doctrine\DBAL\{Connection, DriverManager};
use Doctrine\Persistence\ConnectionRegistry;
use Symfony\Bundle\FrameworkBundle\{FrameworkBundle, Kernel\MicroKernelTrait};
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpKernel\Kernel as Base;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\DoctrineTransportFactory;
use Symfony\Component\Messenger\Event\WorkerMessageHandledEvent;
use Symfony\Component\Messenger\Handler\MessageHandlerInterface;
use Symfony\Component\Messenger\MessageBusInterface;
use function Symfony\Component\DependencyInjection\Loader\Configurator\service;

foreach (['Bundle/FrameworkBundle', 'Component/Messenger', 'Component/Messenger/Bridge/Doctrine', 'Component/Messenger/Bridge/Redis'] as $part) {
    require_once "Symfony/$part/autoload.php";
}
require_once 'Doctrine/DBAL/autoload.php';
require_once 'Doctrine/Persistence/autoload.php';

final class Job
{
    public function __construct(public int $number, public string $kind = '') {}
}

final class Connections implements ConnectionRegistry
{
    private ?Connection $connection = null;

    public function getDefaultConnectionName(): string
    {
        return 'default';
    }

    public function getConnection($name = null): Connection
    {
        return $this->connection ??= DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('SPINDLE_PG_HOST'), 'port' => (int) getenv('SPINDLE_PG_PORT'),
            'user' => getenv('SPINDLE_PG_USER'), 'password' => getenv('SPINDLE_PG_PASSWORD'), 'dbname' => getenv('SPINDLE_PG_DB')]);
    }

    public function getConnections(): array
    {
        return [$this->getConnection()];
    }

    public function getConnectionNames(): array
    {
        return ['default' => 'default'];
    }
}

final class JobHandler implements MessageHandlerInterface
{
    public function __construct(private Connections $connections) {}

    public function __invoke(Job $job): void
    {
        $connection = $this->connections->getConnection();
        $connection->executeStatement("INSERT INTO handled (number, worker, started) VALUES ($job->number, pg_backend_pid(), clock_timestamp())");
        usleep(50_000);
        if ($job->kind === 'exits') {
            exit(0);
        }
        if ($job->kind === 'fatal') {
            str_repeat('x', 2 ** 31);
        }
        if ($job->kind === 'fails') {
            throw new \DomainException("job $job->number fails");
        }
        $connection->executeStatement("UPDATE handled SET ended = clock_timestamp() WHERE number = $job->number");
    }
}

/** Fails where the worker catches nothing. */
final class Breaks
{
    public function __invoke(WorkerMessageHandledEvent $event): void
    {
        if ($event->getEnvelope()->getMessage()->kind === 'breaks') {
            throw new \LogicException('a worker breaks');
        }
    }
}

final class Sends extends \Symfony\Component\Console\Command\Command
{
    protected static $defaultName = 'send';

    public function __construct(private MessageBusInterface $bus, private Connections $connections)
    {
        parent::__construct();
    }

    protected function configure(): void
    {
        $this->addArgument('count')->addArgument('kind', default: '');
    }

    protected function execute($input, $output): int
    {
        $connection = $this->connections->getConnection();
        $connection->executeStatement('CREATE TABLE IF NOT EXISTS handled (number int, worker int, started timestamptz, ended timestamptz)');
        for ($number = 1; $number <= $input->getArgument('count'); $number++) {
            $this->bus->dispatch(new Job($number, $input->getArgument('kind')));
        }
        return 0;
    }
}

final class Kernel extends Base
{
    use MicroKernelTrait;

    public function registerBundles(): iterable
    {
        return [new FrameworkBundle()];
    }

    public function getProjectDir(): string
    {
        return WORK . '/messenger';
    }

    protected function configureContainer(ContainerConfigurator $container): void
    {
        $redis = ['dsn' => 'redis://' . getenv('SPINDLE_REDIS_HOST') . ':' . getenv('SPINDLE_REDIS_PORT')];
        $transport = match ($this->environment) {
            'redis' => $redis + ['options' => ['stream' => 'jobs', 'delete_after_ack' => true, 'consumer' => '%env(MESSENGER_CONSUMER_NAME)%']],
            'nameless' => $redis,
            default => ['dsn' => 'doctrine://default'],
        };
        $container->extension('framework', ['secret' => 'of a test', 'router' => ['enabled' => false], 'messenger' => ['reset_on_message' => true,
            'transports' => ['async' => $transport + ['retry_strategy' => ['max_retries' => 0]]], 'routing' => [Job::class => 'async']]]);
        $services = $container->services();
        $services->defaults()->autowire()->autoconfigure();
        $services->set(Connections::class)->public();
        $services->set('messenger.transport.doctrine.factory', DoctrineTransportFactory::class)->args([service(Connections::class)])->autowire(false)->tag('messenger.transport_factory');
        $services->set(JobHandler::class);
        $services->set(Sends::class);
        $services->set(Breaks::class)->tag('kernel.event_listener', ['event' => WorkerMessageHandledEvent::class]);
    }
}
