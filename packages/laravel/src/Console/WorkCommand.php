<?php

declare(strict_types=1);

namespace Spindle\Laravel\Console;

use Illuminate\Contracts\Cache\Repository;
use Illuminate\Queue\Worker;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputOption;

/** Replaces itself by work.php, with the options of `queue:work`: what this process has booted would be shared by all workers. */
#[AsCommand(name: 'spindle:work')]
final class WorkCommand extends \Illuminate\Queue\Console\WorkCommand
{
    use ReplacesItself;

    public function __construct(Worker $worker, Repository $cache)
    {
        parent::__construct($worker, $cache);
        $this->setName('spindle:work');
        $this->setDescription('Process jobs on the queue by many workers in one process');
        $this->addOption('concurrency', null, InputOption::VALUE_REQUIRED, 'How many workers there are', '20');
    }

    public function handle()
    {
        $arguments = ['--folder=' . $this->laravel->basePath()];
        foreach ($this->getDefinition()->getOptions() as $name => $option) {
            $value = $this->input->getOption($name);
            if ($value !== $option->getDefault() && !in_array($name, ['verbose', 'help', 'version', 'no-interaction'], true)) {
                $arguments[] = match (true) {
                    $option->acceptValue() => "--$name=$value",
                    $value => "--$name",
                    default => "--no-$name",
                };
            }
        }
        $this->output->isVerbose() && $arguments[] = '-v';
        $this->argument('connection') && $arguments[] = $this->argument('connection');
        return $this->replaceBy(PHP_BINARY, ...self::optionsOfPhp(), ...['-d', 'opcache.enable_cli=1', dirname(__DIR__, 2) . '/work.php'], ...$arguments);
    }

    /** The options that PHP was given before the name of the script. */
    private static function optionsOfPhp(): array
    {
        $all = explode("\0", (string) @file_get_contents('/proc/self/cmdline'));
        return array_slice($all, 1, max(0, (int) array_search($_SERVER['argv'][0], $all, true) - 1));
    }
}
