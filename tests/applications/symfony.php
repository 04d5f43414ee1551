<?php
/*
 * What the runner of applications in worker mode (workers.php) needs for packages/symfony: the applications of worker-mode as projects of
 * Composer and Symfony Runtime, none of whose files are written for Spindle; and tests of `spindle serve` and of Messenger with these.
 */

declare(strict_types=1);

namespace Applications;

/** Makes the project of an application in the folder, with the files that a new project has. */
function project(string $folder, string $application): void
{
    foreach (['public', 'bin', 'src', 'vendor/spindle', 'vendor/bin'] as $needed) {
        is_dir("$folder/$needed") || mkdir("$folder/$needed", recursive: true);
    }
    is_link("$folder/vendor/spindle/symfony") || symlink(ROOT . '/packages/symfony', "$folder/vendor/spindle/symfony");
    file_put_contents("$folder/.env", "APP_ENV=prod\nOF_A_FILE=yes\n");
    file_put_contents("$folder/composer.json", json_encode(['extra' => ['runtime' => ['test_envs' => ['try']]]]));
    // What Composer makes.
    $package = ROOT . '/packages/symfony/src';
    file_put_contents("$folder/vendor/autoload.php", '<?php
defined("WORK") || define("WORK", getenv("WORKER_MODE_FOLDER"));
foreach (["Component/Runtime", "Component/Dotenv", "Component/Console", ...extension_loaded("intl") ? [] : ["Polyfill/Intl/Grapheme", "Polyfill/Intl/Normalizer"]] as $part) {
    require_once "Symfony/$part/autoload.php";
}
require_once ' . var_export(__DIR__ . '/worker-mode/installed.php', true) . ';
spl_autoload_register(static function (string $class): void {
    str_starts_with($class, "Spindle\\\\Symfony\\\\") && require ' . var_export($package, true) . ' . "/" . strtr(substr($class, 16), "\\\\", "/") . ".php";
    is_file($file = dirname(__DIR__) . "/src/" . substr($class, 4) . ".php") && require $file;
});
require_once ' . var_export(__DIR__ . "/worker-mode/$application.php", true) . ';
return new stdClass();
');
    file_put_contents("$folder/vendor/bin/spindle-consume", <<<'PHP'
        <?php
        $GLOBALS['_composer_autoload_path'] = __DIR__ . '/../autoload.php';
        return include __DIR__ . '/../spindle/symfony/bin/spindle-consume';
        PHP);
    $template = file_get_contents(LIBRARIES . '/Symfony/Component/Runtime/Internal/autoload_runtime.template');
    file_put_contents("$folder/vendor/autoload_runtime.php", strtr($template, ['%project_dir%' => 'dirname(__DIR__, 1)',
        '%runtime_class%' => "'Symfony\\\\Component\\\\Runtime\\\\SymfonyRuntime'", '%runtime_options%' => "['test_envs' => ['try'], 'project_dir' => dirname(__DIR__, 1)]"]));
    file_put_contents("$folder/public/index.php", <<<'PHP'
        <?php

        use App\Kernel;

        require_once dirname(__DIR__).'/vendor/autoload_runtime.php';

        return function (array $context) {
            return new Kernel($context['APP_ENV'], (bool) $context['APP_DEBUG']);
        };
        PHP);
    file_put_contents("$folder/bin/console", <<<'PHP'
        #!/usr/bin/env php
        <?php

        use App\Kernel;
        use Symfony\Bundle\FrameworkBundle\Console\Application;

        require_once dirname(__DIR__).'/vendor/autoload_runtime.php';

        return function (array $context) {
            return new Application(new Kernel($context['APP_ENV'], (bool) $context['APP_DEBUG']));
        };
        PHP);
}

/** Settings of PHP for commands of a project. @return list<string> */
function forCommands(string $folder): array
{
    $arguments = [];
    foreach (['include_path' => '.:' . LIBRARIES, 'log_errors' => '1', 'error_log' => "$folder/errors.log", 'error_reporting' => (string) (E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED)] as $name => $value) {
        array_push($arguments, '-d', "$name=$value");
    }
    if (!extension_loaded('intl') && is_file(PHP_EXTENSION_DIR . '/intl.so')) {
        array_push($arguments, '-d', 'extension=intl');
    }
    return $arguments;
}

/** A process in a folder, whose output is in files. */
final class Program
{
    private static int $made = 0;
    /** @var resource */
    private $process;
    private readonly string $file;
    private ?int $status = null;

    /** @param list<string> $command @param array<string, string> $environment */
    public function __construct(array $command, string $folder, array $environment)
    {
        $this->file = WORK . '/program' . ++self::$made;
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], ['file', $this->file, 'w'], ['redirect', 1]], $pipes, $folder, $environment + getenv());
    }

    public function said(): string
    {
        return (string) file_get_contents($this->file);
    }

    public function isRunning(): bool
    {
        $now = proc_get_status($this->process);
        $this->status ??= $now['running'] ? null : $now['exitcode'];
        return $now['running'];
    }

    public function signal(int $signal): void
    {
        posix_kill(proc_get_status($this->process)['pid'], $signal);
    }

    /** Waits for its end. */
    public function status(): int
    {
        \Sapi\until("the program ends: {$this->said()}", fn () => !$this->isRunning());
        return $this->status;
    }

    public function __destruct()
    {
        if ($this->isRunning()) {
            $this->signal(SIGKILL);
        }
        proc_close($this->process);
    }
}

/** Is thrown by check(). */
final class Wrong extends \Exception {}

function check(string $what, mixed $found, mixed $expected, string $more = ''): void
{
    if ($found !== $expected) {
        throw new Wrong("$what: " . json_encode($found) . ' and not ' . json_encode($expected) . ($more === '' ? '' : "\n$more"));
    }
}

/** What `spindle serve` does with the package, and with what it cannot serve. */
function symfony_serve(): string
{
    $folder = WORK . '/symfony';
    project($folder, 'symfony');
    $serve = static fn (string $in, array $arguments = [], array $environment = []) => new Program([dirname(EXTENSION) . '/spindle', 'serve', "$folder/vendor/spindle/symfony/serve.php", '--mode', 'application',
        '--instances', '2', '--listen', '127.0.0.1:0', '--extension', EXTENSION, ...forCommands($folder), ...$arguments], $in, $environment);
    $serving = static function (Program $server): string {
        \Sapi\until("it serves: {$server->said()}", static fn () => preg_match('~at (http://\S+/)~', $server->said()) || !$server->isRunning());
        return preg_match('~at (http://\S+/)~', $server->said(), $found) ? $found[1] : throw new Wrong($server->said());
    };
    // Since Symfony 6 all but deprecations.
    $reported = str_contains(file_get_contents(LIBRARIES . '/Symfony/Component/Runtime/Internal/SymfonyErrorHandler.php'), 'error_reporting(-1)') ? -1 : 8191;
    $expected = ['prod' => [$reported, '', 'Symfony\Component\ErrorHandler\ErrorHandler', 'prod', 'yes', '/index.php', 'index.php', 'public']];
    $expected['dev'] = [$reported, '1', 2 => $expected['prod'][2], 'dev'] + $expected['prod'];
    foreach ($expected as $env => $settings) {
        // While debugging each request may have an instance of its own, so that changes are seen.
        $server = $serve($folder, $env === 'dev' ? ['--set', 'instance_requests=1', '--dev'] : [], ['APP_ENV' => $env]);
        $address = $serving($server);
        for ($n = 0; $n < 5; $n++) {
            check("what the runtime has set in $env", json_decode((string) file_get_contents("{$address}settings?n=$n")), $settings);
            $page = file_get_contents("{$address}fails?n=$n", context: stream_context_create(['http' => ['ignore_errors' => true]]));
            check("a page of errors in $env", [$http_response_header[0], str_contains($page, '<html'), str_contains($page, "fails for $n")], ['HTTP/1.1 500 Internal Server Error', true, $env === 'dev'], $page);
        }
        $server->signal(SIGTERM);
        check('the status of the server', $server->status(), 0, $server->said());
    }

    // Each request begins with connections of its own to the database, also after one that has left a transaction open.
    $database = new \PDO("sqlite:$folder/../orders.db");
    $database->exec('create table orders (n int)');
    @unlink("$folder/errors.log");
    $server = $serve($folder, ['--instances', '1']);
    $address = $serving($server);
    $answers = array_map(static fn (int $n) => (string) @file_get_contents("{$address}order/$n"), range(1, 4));
    check('the answers to orders', $answers, ['', 'order 2 at level 1', 'order 3 at level 0', 'order 4 at level 0'], (string) @file_get_contents("$folder/errors.log"));
    check('the orders', $database->query('select n from orders')->fetchAll(\PDO::FETCH_COLUMN), [3, 4]);
    $warned = substr_count(file_get_contents("$folder/errors.log"), 'A request has left a transaction open on the connection default: it is rolled back');
    check('the transactions left open that were logged', $warned, 2);
    $server->signal(SIGTERM);
    check('the status of the server', $server->status(), 0, $server->said());

    // Runtimes that keep the first request that they make, as Symfony's does from 7.4 on, and fronts that return a response.
    file_put_contents("$folder/src/KeepingRuntime.php", <<<'PHP'
        <?php
        namespace App;
        use Symfony\Component\{HttpFoundation\Request, Runtime\Runner\Symfony\HttpKernelRunner, Runtime\RunnerInterface};
        final class KeepingRuntime extends \Symfony\Component\Runtime\SymfonyRuntime
        {
            private ?Request $kept = null;

            public function getRunner(?object $application): RunnerInterface
            {
                return new HttpKernelRunner($application, $this->kept ??= Request::createFromGlobals());
            }
        }
        PHP);
    file_put_contents("$folder/public/response.php", <<<'PHP'
        <?php
        require_once dirname(__DIR__).'/vendor/autoload_runtime.php';
        return fn (Symfony\Component\HttpFoundation\Request $request) => new Symfony\Component\HttpFoundation\Response("Hello, {$request->getPathInfo()}");
        PHP);
    foreach ([[[], ['APP_RUNTIME' => 'App\KeepingRuntime'], 'Hello, me%d, in en by GET with '], [['--', 'public/response.php'], [], 'Hello, /hello/me%d']] as [$arguments, $environment, $said]) {
        $server = $serve($folder, $arguments, $environment);
        $address = $serving($server);
        for ($n = 0; $n < 5; $n++) {
            check('the answer', file_get_contents("{$address}hello/me$n"), sprintf($said, $n));
        }
        $server->signal(SIGTERM);
        check('the status of the server', $server->status(), 0, $server->said());
    }

    // What cannot be served: it ends with status 1, and says why.
    file_put_contents("$folder/public/int.php", '<?php return 1;');
    file_put_contents("$folder/public/old.php", '<?php return new stdClass();');
    $bare = WORK . '/bare';
    is_dir("$bare/vendor") || mkdir("$bare/vendor", recursive: true);
    is_dir("$bare/public") || mkdir("$bare/public");
    file_put_contents("$bare/public/index.php", '<?php echo "old";');
    $wrong = [
        [WORK, [], [], 'public/index.php is not in'],
        [$folder, ['--', 'public/none.php'], [], 'public/none.php is not in'],
        [$bare, [], [], 'has a vendor/autoload.php'],
        [$folder, ['--', 'public/int.php'], [], 'returns int, and must return a closure'],
        [$folder, ['--', 'public/old.php'], [], 'returns stdClass, and must return a closure'],
        [$folder, ['--', 'bin/console'], [], 'makes a command of the console'],
        [$folder, [], ['APP_RUNTIME' => 'stdClass'], 'stdClass, which is to be the runtime'],
        [$folder, [], ['APP_ENV' => 'broken'], 'the kernel is broken'],
    ];
    foreach ($wrong as [$in, $arguments, $environment, $said]) {
        $server = $serve($in, $arguments, $environment);
        check("the status with what is wrong, $said", $server->status(), 1, $server->said());
        str_contains($server->said() . @file_get_contents("$folder/errors.log"), $said) || throw new Wrong("It does not say '$said', but: {$server->said()}");
    }
    file_put_contents("$bare/vendor/autoload.php", '<?php');
    $server = $serve($bare);
    check('the status without Symfony Runtime', $server->status(), 1, $server->said());
    str_contains($server->said(), 'needs Symfony Runtime') && !str_contains($server->said(), 'old') || throw new Wrong($server->said());
    return count($wrong) + 1 . ' that cannot be served';
}

/** Messenger by the package: many workers in a process. */
function symfony_messenger(): string
{
    $folder = WORK . '/messenger';
    mkdir($folder);
    project($folder, 'messenger');
    $servers = WORK . '/servers-of-messenger'; // Laravel's have tables with the same names
    exec(escapeshellarg(ROOT . '/scripts/servers') . ' start ' . escapeshellarg($servers) . ' postgres redis', result_code: $status);
    $status === 0 || \Runner\fail('no PostgreSQL, or no Redis');
    register_shutdown_function(static fn () => exec(escapeshellarg(ROOT . '/scripts/servers') . ' stop ' . escapeshellarg($servers)));
    preg_match_all("/^export (\\w+)='?(.*?)'?$/m", file_get_contents("$servers/env"), $variables);
    $environment = array_combine($variables[1], $variables[2]);
    $database = new \PDO($environment['SPINDLE_PG_DSN']);
    $php = [PHP_BINARY, '-n', ...forCommands($folder), '-d', 'extension=pdo', '-d', 'extension=pdo_pgsql', '-d', 'extension=mbstring', '-d', 'extension=ctype', '-d', 'extension=tokenizer', '-d', 'extension=xml', '-d', 'extension=dom',
        '-d', 'extension=posix', '-d', 'extension=igbinary', '-d', 'extension=redis', '-d', 'memory_limit=1G'];
    $console = static function (string ...$arguments) use ($php, $folder, &$environment): Program {
        return new Program([...$php, 'bin/console', ...$arguments], $folder, $environment);
    };
    $consume = static function (string ...$arguments) use ($php, $folder, &$environment): Program {
        return new Program([...$php, '-d', 'extension=' . EXTENSION, "$folder/vendor/bin/spindle-consume", ...$arguments], '/', $environment);
    };
    $send = static function (int $count, string $kind = '') use ($console, $database): void {
        @$database->exec('DELETE FROM handled');
        @$database->exec('DELETE FROM messenger_messages');
        $sender = $console('send', (string) $count, $kind);
        check('the status of sending', $sender->status(), 0, $sender->said());
    };
    $number = static fn (string $sql) => (int) $database->query("SELECT $sql")->fetchColumn();
    $database->setAttribute(\PDO::ATTR_ERRMODE, \PDO::ERRMODE_SILENT);

    $send(200);
    $workers = $consume('async', '--concurrency=20', '--limit=200');
    check('the status', $workers->status(), 0, $workers->said());
    check('how many were handled', [$number('count(ended) FROM handled'), $number('count(DISTINCT number) FROM handled'), $number('count(*) FROM messenger_messages')], [200, 200, 0], $workers->said());
    check('workers', $number('count(DISTINCT worker) FROM handled') >= 15, true, (string) $number('count(DISTINCT worker) FROM handled'));
    check('how often it is said', substr_count($workers->said(), 'Consuming messages'), 1, $workers->said());
    $seconds = $database->query('SELECT extract(epoch FROM max(ended) - min(started)) FROM handled')->fetchColumn();
    $said = sprintf('200 jobs of 50 ms by 20 workers in %.2f s', $seconds);

    // A limit is the group's, and leaves the others as they were.
    $send(50);
    $workers = $consume('messenger:consume', 'async', '--concurrency', '20', '-l', '7');
    check('the status', $workers->status(), 0, $workers->said());
    check('how many were handled, and left', [$number('count(ended) FROM handled'), $number('count(*) FROM messenger_messages WHERE delivered_at IS NULL')], [7, 43]);

    // A signal: what is under way is handled, nothing else.
    foreach ([SIGTERM, SIGINT] as $signal) {
        $send(300);
        $workers = $consume('async', '--concurrency=10');
        \Sapi\until('some are handled', static fn () => $number('count(ended) FROM handled') >= 20 || !$workers->isRunning());
        $workers->signal($signal);
        check('the status after a signal', $workers->status(), 0, $workers->said());
        $ended = $number('count(ended) FROM handled');
        check('handled whole', [$number('count(*) FROM handled'), $number('count(*) FROM messenger_messages WHERE delivered_at IS NULL'), $ended < 300], [$ended, 300 - $ended, true], $workers->said());
    }

    // As that of messenger:stop-workers.
    $send(300);
    $workers = $consume('async', '--concurrency=10');
    \Sapi\until('some are handled', static fn () => $number('count(ended) FROM handled') >= 20 || !$workers->isRunning());
    check('the status of messenger:stop-workers', $console('messenger:stop-workers')->status(), 0);
    check('the status after messenger:stop-workers', $workers->status(), 0, $workers->said());
    check('handled whole', $number('count(*) FROM handled WHERE ended IS NULL'), 0);

    // A time limit is each worker's; there is nothing to do.
    $send(0);
    $workers = $consume('async', '--concurrency=5', '--time-limit=1');
    check('the status after a time limit', $workers->status(), 0, $workers->said());

    $send(60, 'fails');
    $workers = $consume('async', '--concurrency=5', '--failure-limit=12');
    check('the status after failures', $workers->status(), 0, $workers->said());
    $failed = $number('count(*) FROM handled');
    check('failures', $failed >= 12 && $failed < 12 + 5, true, "$failed");

    // A worker that fails ends the process, when the others have handled what is under way.
    $send(100, 'breaks');
    $workers = $consume('async', '--concurrency=5');
    check('the status after a failure', $workers->status(), 1, $workers->said());
    check('how often it is said', substr_count($workers->said(), 'a worker breaks'), 1, $workers->said());
    check('handled whole', $number('count(*) FROM handled WHERE ended IS NULL'), 0);

    $workers = $consume('--help');
    check('the status of help, said once', [$workers->status(), substr_count($workers->said(), 'Usage:')], [0, 1], $workers->said());

    // One that ends by exit does so, too. Its message is not acknowledged.
    $send(100, 'exits');
    $workers = $consume('async', '--concurrency=5');
    check('the status after exit', $workers->status(), 1, $workers->said());
    $started = $number('count(*) FROM handled');
    check('not acknowledged', [$number('count(*) FROM messenger_messages'), $started > 0 && $started <= 10], [100, true]);

    $send(100, 'fatal');
    $workers = $consume('async', '--concurrency=5');
    check('the status after a fatal error', $workers->status(), 1, $workers->said());
    check('not acknowledged', $number('count(*) FROM messenger_messages'), 100);

    foreach ([[['nowhere'], 'The receiver "nowhere" does not exist'], [['async', '--concurrency=0'], "not '0'"], [['async', '--limit=x'], "not 'x'"], [['async', '--unknown'], '"--unknown" option does not exist'],
        [['async', '--keepalive'], 'keepalive']] as [$arguments, $why]) {
        $workers = $consume(...$arguments);
        check('the status of what is wrong', $workers->status(), 1, $workers->said());
        check($workers->said(), substr_count($workers->said(), $why), 1);
    }

    // In Redis each worker needs a name of its own.
    $environment += ['APP_DEBUG' => '0', 'MESSENGER_CONSUMER_NAME' => 'test'];
    $environment['APP_ENV'] = 'redis';
    $send(200);
    $workers = $consume('async', '--concurrency=20', '--limit=200');
    check('the status', $workers->status(), 0, $workers->said());
    check('how many were handled from Redis', [$number('count(ended) FROM handled'), $number('count(DISTINCT number) FROM handled')], [200, 200], $workers->said());
    $environment['APP_ENV'] = 'nameless';
    $workers = $consume('async', '--concurrency=20');
    check('the status without names', $workers->status(), 1, $workers->said());
    check('how often it is said', substr_count($workers->said(), "would have the name 'consumer'"), 1, $workers->said());
    return $said;
}
