<?php
/** Web servers that have PHP inside, of one's own. */

namespace Sapi;

/** A web server of one's own, which ends with its object. */
abstract class Web
{
    /** @var resource */
    protected $process;
    protected int $port;

    protected function start(array $command, string $name): void
    {
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], ['file', WORK . "/$name.out", 'w'], ['redirect', 1]], $pipes, WORK, ['PHP_INI_SCAN_DIR' => '/nowhere'] + getenv());
        until("the server listens: " . implode(' ', $command), fn() => @stream_socket_client("tcp://127.0.0.1:$this->port") !== false);
    }

    public function get(string $script): string
    {
        $context = stream_context_create(['http' => ['ignore_errors' => true, 'timeout' => 60]]);
        return file_get_contents("http://127.0.0.1:$this->port/" . basename($script), false, $context);
    }

    public function pid(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    public function __destruct()
    {
        proc_terminate($this->process);
        until('the server ends', fn() => !proc_get_status($this->process)['running']);
    }
}

/** php -S. */
final class Server extends Web
{
    public function __construct(array $options)
    {
        $this->port = free_port();
        $this->start([PHP_BINARY, '-n', ...$options, '-S', "127.0.0.1:$this->port", '-t', WORK], 'server');
    }
}

/** Apache, with PHP inside. */
final class Apache extends Web
{
    private static int $made = 0;

    public function __construct(array $settings, string $more = '')
    {
        $this->port = free_port();
        $folder = WORK . '/apache' . ++self::$made;
        mkdir($folder);
        chmod($folder, 0777);
        $ini = '';
        foreach ($settings + ['extension' => EXTENSION, 'html_errors' => '0', 'display_errors' => '1'] as $name => $value) {
            $ini .= "$name = $value\n";
        }
        file_put_contents("$folder/php.ini", $ini);
        $modules = '/usr/lib/apache2/modules';
        $php = glob("$modules/libphp*.so")[0] ?? throw new \RuntimeException("there is no PHP for Apache; 'scripts/setup test' installs it");
        $user = posix_getuid() === 0 ? "User nobody\nGroup nogroup" : '';
        file_put_contents("$folder/apache.conf", <<<CONF
            ServerRoot $folder
            ServerName localhost
            Listen 127.0.0.1:$this->port
            PidFile $folder/pid
            ErrorLog $folder/error.log
            Mutex fcntl:$folder
            $user
            LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
            LoadModule authz_core_module $modules/mod_authz_core.so
            LoadModule mime_module $modules/mod_mime.so
            LoadModule php_module $php
            TypesConfig /dev/null
            PHPIniDir $folder
            StartServers 1
            MinSpareServers 1
            MaxSpareServers 1
            MaxRequestWorkers 1
            DocumentRoot {$this->root()}
            <FilesMatch \.php$>
                SetHandler application/x-httpd-php
            </FilesMatch>
            $more

            CONF);
        // At its end it signals its group.
        $this->start(['setsid', program('apache2'), '-f', "$folder/apache.conf", '-DFOREGROUND'], 'apache');
    }

    private function root(): string
    {
        return WORK;
    }

    /** The process that answers. */
    public function worker(): int
    {
        return (int) trim(file_get_contents("/proc/{$this->pid()}/task/{$this->pid()}/children"));
    }
}
