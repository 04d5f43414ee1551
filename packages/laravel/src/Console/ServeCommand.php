<?php

declare(strict_types=1);

namespace Spindle\Laravel\Console;

use Illuminate\Console\Command;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Process\ExecutableFinder;

/** Replaces itself by `spindle serve` for this application. */
#[AsCommand(name: 'spindle:serve')]
final class ServeCommand extends Command
{
    use ReplacesItself;

    protected $signature = 'spindle:serve
        {--host=127.0.0.1 : The address to listen on}
        {--port=8000 : The port to listen on}
        {--listen=* : Addresses in place of host and port, as unix:/run/app.sock}
        {--instances=16 : How many instances of the application there are}
        {--dev : Start again when a file of the application changes, and show errors on the page}
        {--log= : The format of the access log: combined, json or off}
        {--without-files : Do not send the files in public/}
        {--spindle= : The command spindle, if it is not on the PATH}
        {further?* : Further options for the command spindle serve, after two dashes}';
    protected $description = 'Serve the application by many instances in one process';

    public function handle(): int
    {
        $spindle = $this->option('spindle') ?: (new ExecutableFinder())->find('spindle');
        if (!$spindle || !is_executable($spindle)) {
            $this->error($spindle ? "There is no program $spindle." : 'The command spindle is not on the PATH: say where it is by --spindle.');
            return 1;
        }
        $arguments = ['serve', dirname(__DIR__, 2) . '/serve.php', '--mode', 'application', '--instances', $this->option('instances'), '--php', PHP_BINARY];
        foreach ($this->option('listen') ?: ["{$this->option('host')}:{$this->option('port')}"] as $address) {
            array_push($arguments, '--listen', $address);
        }
        $this->option('dev') && $arguments[] = '--dev';
        $this->option('log') && array_push($arguments, '--log', $this->option('log'));
        $public = $this->laravel->basePath('public');
        if (!$this->option('without-files') && is_dir($public)) {
            array_push($arguments, '--files', $public);
            // What is linked in public/, as by `artisan storage:link`, is outside of it: the server does not follow such links.
            foreach (array_filter(glob("$public/*", GLOB_ONLYDIR), is_link(...)) as $link) {
                array_push($arguments, '--files', '/' . basename($link) . '=' . realpath($link));
            }
        }
        // The rest is for serve.php.
        return $this->replaceBy($spindle, ...$arguments, ...$this->argument('further'), ...['--', $this->laravel->basePath()]);
    }
}
