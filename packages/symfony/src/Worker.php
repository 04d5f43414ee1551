<?php

declare(strict_types=1);

namespace Spindle\Symfony;

use Symfony\Bundle\FrameworkBundle\Console\Application;
use Symfony\Component\Console\ConsoleEvents;
use Symfony\Component\Console\Event\ConsoleCommandEvent;
use Symfony\Component\Console\Output\ConsoleOutput;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\EventDispatcher\EventDispatcherInterface;
use Symfony\Component\Messenger\Bridge\Redis\Transport\RedisTransport;
use Symfony\Component\Messenger\Event\WorkerMessageFailedEvent;
use Symfony\Component\Messenger\Event\WorkerRunningEvent;
use Symfony\Component\Messenger\Event\WorkerStartedEvent;

/** One of the workers of a group, in an instance of its own: the application's messenger:consume, which its events steer. */
final class Worker
{
    private const NAME = 'MESSENGER_CONSUMER_NAME';

    private ?OutputInterface $muted = null;

    private int $verbosity = OutputInterface::VERBOSITY_NORMAL;

    public function __construct(private readonly Front $front, private readonly Group $group, private readonly int $number) {}

    /**
     * Returns the exit status. If it fails, the others stop as well, so that what supervises the process starts it again.
     *
     * @param list<string> $arguments
     */
    public function run(array $arguments): int
    {
        $application = null;
        $hasEnded = false;
        \register_shutdown_function(function () use (&$hasEnded): void {
            $this->group->isStopping = $this->group->isStopping || !$hasEnded; // a handler has called exit
        });
        try {
            $runtime = $this->front->runtime();
            $this->nameConsumer();
            $application = $this->front->application($runtime);
            if (!$application instanceof Application) {
                throw new \RuntimeException("{$this->front->file} makes " . \get_debug_type($application) . ', and not the console of FrameworkBundle');
            }
            $kernel = $application->getKernel();
            $kernel->boot();
            $this->listen($kernel->getContainer()->get('event_dispatcher'));
            $application->setAutoExit(false);
            $application->setCatchExceptions(false);
            $input = new WorkerInput(['spindle-consume', 'messenger:consume', ...$arguments]);
            $input->setInteractive(false); // one would ask, the others do not
            $status = $application->run($input, new ConsoleOutput());
        } catch (\Throwable $failed) {
            $this->say($failed, $application);
            $status = 1;
        }
        if ($status !== 0) {
            $this->group->isStopping = true;
        }
        $hasEnded = true;
        return $status;
    }

    /**
     * Gives this worker a name of its own by the variable that Symfony's documentation has for the option `consumer` of Redis. Workers
     * with one name would handle each other's messages again. Without it the process has a name of its own, too.
     */
    private function nameConsumer(): void
    {
        $given = $_ENV[self::NAME] ?? $_SERVER[self::NAME] ?? \getenv(self::NAME);
        $name = ($given ?: \gethostname() . '-' . \getmypid()) . "-$this->number";
        $_ENV[self::NAME] = $_SERVER[self::NAME] = $name;
    }

    private function listen(EventDispatcherInterface $events): void
    {
        $events->addListener(ConsoleEvents::COMMAND, $this->begins(...));
        $events->addListener(WorkerStartedEvent::class, $this->started(...), -2000);
        $events->addListener(WorkerRunningEvent::class, $this->isRunning(...));
        $events->addListener(WorkerMessageFailedEvent::class, $this->failed(...));
    }

    /** Before the command runs, whose arguments are known. */
    private function begins(ConsoleCommandEvent $event): void
    {
        $input = $event->getInput();
        if (!$input instanceof WorkerInput || $event->getCommand()?->getName() !== 'messenger:consume') {
            return;
        }
        if ($this->group->size > 1 && $input->hasParameterOption('--keepalive', true)) {
            throw new \InvalidArgumentException('The option --keepalive is for one worker in a process, as it uses an alarm of that');
        }
        if (!$input->getArgument('receivers') && !($input->hasOption('all') && $input->getOption('all'))) {
            throw new \InvalidArgumentException('Name the transports to consume from');
        }
        if (!$this->group->isConfigured) {
            $this->group->left = $input->limit('limit');
            $this->group->failureLimit = $input->limit('failure-limit');
            $this->group->isConfigured = true;
        }
        // What the command says at its beginning is said once.
        if ($this->number > 0) {
            $this->muted = $event->getOutput();
            $this->verbosity = $this->muted->getVerbosity();
            $this->muted->setVerbosity(OutputInterface::VERBOSITY_QUIET);
        }
    }

    /** Each message that a worker asks for counts before it does, so that no worker takes one that the limit leaves for later. */
    private function started(WorkerStartedEvent $event): void
    {
        $this->muted?->setVerbosity($this->verbosity);
        $this->muted = null;
        // Symfony has set handlers for this worker, where a process has one. The group has asked for these signals.
        if (\function_exists('pcntl_signal')) {
            foreach (Group::SIGNALS as $signal) {
                \pcntl_signal($signal, $this->group->nothing);
            }
        }
        $this->checkConsumers($event->getWorker());
        if ($this->group->isStopping || !$this->mayAsk()) {
            $event->getWorker()->stop();
        }
    }

    /** Refuses transports of Redis that have the name of another worker. */
    private function checkConsumers(\Symfony\Component\Messenger\Worker $worker): void
    {
        foreach (self::read($worker, 'receivers') as $transport => $receiver) {
            if (!$receiver instanceof RedisTransport) {
                continue;
            }
            $name = self::read(self::read($receiver, 'connection'), 'consumer');
            $other = $this->group->consumers[$transport][$name] ??= $this->number;
            if ($other !== $this->number) {
                throw new \RuntimeException("All workers would have the name '$name' in the Redis transport '$transport', and handle messages twice: set its option consumer to '%env(" . self::NAME . ")%'");
            }
        }
    }

    /** Reads a private property; null if there is none. */
    private static function read(object $of, string $name): mixed
    {
        return \property_exists($of, $name) ? (new \ReflectionProperty($of, $name))->getValue($of) : null;
    }

    private function isRunning(WorkerRunningEvent $event): void
    {
        if ($this->group->isStopping || !$event->isWorkerIdle() && !$this->mayAsk()) {
            $event->getWorker()->stop();
        }
    }

    private function failed(): void
    {
        if (++$this->group->failures === $this->group->failureLimit) {
            $this->group->isStopping = true;
        }
    }

    private function mayAsk(): bool
    {
        return $this->group->left === null || $this->group->left-- > 0;
    }

    private function say(\Throwable $failed, mixed $application): void
    {
        $key = \get_class($failed) . $failed->getMessage();
        if (isset($this->group->said[$key])) {
            return;
        }
        $this->group->said[$key] = true;
        if ($application instanceof Application) {
            $application->renderThrowable($failed, (new ConsoleOutput())->getErrorOutput());
        } else {
            \fwrite(\STDERR, "spindle-consume: $failed\n");
        }
    }
}
