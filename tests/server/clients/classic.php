<?php
/*
 * `spindle serve DIRECTORY`: php-fpm beside the workers, and its life.
 */

declare(strict_types=1);

namespace ServerTests;

/** Sends requests, eight at a time, until $isOver returns true. Returns how often each answer has come. */
function load(string $url, callable $isOver): array
{
    $all = curl_multi_init();
    $answers = [];
    $begin = function () use ($all, $url): void {
        $one = curl_init($url);
        curl_setopt_array($one, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 60]);
        curl_multi_add_handle($all, $one);
    };
    for ($running = 0; $running < 8; $running++) {
        $begin();
    }
    while ($running > 0) {
        curl_multi_exec($all, $still);
        curl_multi_select($all, 0.1);
        $isOver = $isOver && !$isOver($answers) ? $isOver : null;
        while ($ended = curl_multi_info_read($all)) {
            $one = $ended['handle'];
            $answer = $ended['result'] !== CURLE_OK ? 'failed: ' . curl_strerror($ended['result']) : curl_getinfo($one, CURLINFO_RESPONSE_CODE) . ' ' . substr(curl_multi_getcontent($one), 0, 200);
            $answers[$answer] = ($answers[$answer] ?? 0) + 1;
            curl_multi_remove_handle($all, $one);
            $running--;
            if ($isOver) {
                $begin();
                $running++;
            }
        }
    }
    return $answers;
}

/** @return list<int> the processes of php-fpm below a command: its masters, or their children */
function fpm(Serving $serve, bool $children = false): array
{
    $below = fn (int $pid): array => array_map(intval(...), preg_split('/\s+/', trim((string) @file_get_contents("/proc/$pid/task/$pid/children")), 0, PREG_SPLIT_NO_EMPTY));
    $masters = array_values(array_filter($below($serve->process()), fn ($pid) => str_starts_with((string) @file_get_contents("/proc/$pid/cmdline"), 'php-fpm')));
    return $children ? array_merge([], ...array_map($below, $masters)) : $masters;
}

function folder_of_scripts(string $name): string
{
    @mkdir(WORK . "/$name/admin", recursive: true);
    $scripts = ['index.php' => 'header("X-Front: 1"); echo "front $_SERVER[REQUEST_URI] $_SERVER[SCRIPT_NAME]";', 'ini.php' => 'echo ini_get("memory_limit"), " ", ini_get("display_errors"), " ", getenv("GIVEN"), " ", fileowner("/proc/self");',
        'error.php' => 'error_log("what went wrong"); echo $_SERVER["HTTP_HOST"] ? "fine" : "";', 'admin/index.php' => 'echo "admin $_SERVER[SCRIPT_FILENAME]";', 'count.php' => 'usleep(1000); echo "counted";',
        'slow.php' => 'touch(__DIR__ . "/begun"); while (!file_exists(__DIR__ . "/go")) usleep(10_000); echo "slow";', 'version.php' => 'echo "one";'];
    foreach ($scripts as $file => $code) {
        file_put_contents(WORK . "/$name/$file", "<?php\n$code\n");
    }
    file_put_contents(WORK . "/$name/a.css", 'css');
    file_put_contents(WORK . "/$name/.env", 'secret');
    return $name;
}

$cases['serve: a directory, by php-fpm'] = function () {
    $folder = folder_of_scripts('classic');
    file_put_contents(WORK . "/$folder/sends.php", '<?php header("X-Accel-Redirect: /private/data");');
    file_put_contents(WORK . "/$folder/second.php", '<?php header("X-Sendfile: " . dirname(__DIR__) . "/sendable-1/x.zip");');
    foreach ([1, 2] as $i) {
        @mkdir(WORK . "/sendable-$i");
        file_put_contents(WORK . "/sendable-$i/x.zip", "of $i");
    }
    $serve = new Serving($folder, '--children', '3', '-d', 'memory_limit=77M', '--log', 'json', '--sendfile', '/private=' . WORK, '--sendfile', WORK . '/sendable-1', '--sendfile', WORK . '/sendable-2');
    same(1, preg_match('~^Serving \S+/classic at http://\S+ \(classic mode, 3 processes of php-fpm\)~m', $serve->errors()));
    until(fn () => count(fpm($serve, true)) === 3);
    same('front / /index.php', $serve->get('/'));
    same('front /post/1?x /index.php', $serve->get('/post/1?x'));
    same('admin ' . realpath(WORK) . '/classic/admin/index.php', $serve->get('/admin/'));
    same('css', $serve->get('/a.css'));
    same(md5_file(WORK . '/data') . '  -', shell("curl -s $serve->url/sends.php | md5sum"));
    same('of 1', $serve->get('/second.php'));
    same('77M 0', substr($serve->get('/ini.php'), 0, 5));
    same(['403', '404'], [$serve->get('/.env', "-o /dev/null -w '%{http_code}'"), $serve->get('/nothing.php', "-o /dev/null -w '%{http_code}'")]);
    same('fine', $serve->get('/error.php'));
    until(fn () => preg_match('~^\{.*"message":"PHP message: what went wrong".*"target":"/error.php","request_id":"[0-9a-f]{32}"~m', $serve->errors()) === 1);
    $serve->signal();
    same(0, $serve->end());
    same(0, preg_match('/NOTICE/', $serve->errors()));
    same([], glob(sys_get_temp_dir() . '/spindle-fpm.*/conf.*') ? array_filter(glob(sys_get_temp_dir() . '/spindle-fpm.*/conf.*'), fn ($file) => str_contains(file_get_contents($file), WORK)) : []);
    $refused = fn (string ...$arguments) => shell(escapeshellarg(dirname(EXTENSION) . '/spindle') . ' serve ' . implode(' ', array_map(escapeshellarg(...), [WORK . "/$folder", '--php', PHP_BINARY, '--extension', EXTENSION, ...$arguments])));
    same("spindle: --fpm: there is no program 'no-such-fpm' (status 1)", $refused('--fpm', 'no-such-fpm'));
    $missing = WORK . '/no-such-folder';
    foreach ([$missing, "/private=$missing"] as $sendfile) {
        same(1, preg_match("~^spindle: The folder $missing cannot be opened: No such file or directory .*\(status 1\)$~", $refused('--check', '--sendfile', $sendfile)));
    }
    same(1, preg_match('~is right: it boots, and can be served at 127\.0\.0\.1:\d+$~', $refused('--check', '--listen', '127.0.0.1:' . free_port())));
};
$cases['serve: a directory, reloaded again and again under load'] = function () {
    $folder = folder_of_scripts('reloaded');
    $serve = new Serving($folder, '--children', '2', '--workers', '2', '--log', 'off');
    $reloads = 0;
    $before = fpm($serve);
    $answers = load("$serve->url/count.php", function () use ($serve, &$reloads, &$before) {
        // The next one begins when php-fpm of the one before has ended.
        $now = fpm($serve);
        if (substr_count($serve->errors(), 'the new PHP has taken over') === $reloads && count($now) === 1 && ($reloads === 0 || $now !== $before)) {
            if ($reloads === 5) {
                return true;
            }
            $before = $now;
            $reloads++;
            $serve->signal(SIGHUP);
        }
        return false;
    });
    same(['200 counted'], array_keys($answers));
    same(true, $answers['200 counted'] > 50);
    // One that runs is finished by the old one.
    $slow = popen("curl -s $serve->url/slow.php", 'r');
    until(fn () => file_exists(WORK . '/reloaded/begun'));
    file_put_contents(WORK . '/reloaded/version.php', '<?php echo "two";');
    $serve->signal(SIGHUP);
    until(fn () => substr_count($serve->errors(), 'the new PHP has taken over') === 6 && count(fpm($serve)) === 2);
    same('two', $serve->get('/version.php'));
    touch(WORK . '/reloaded/go');
    same('slow', stream_get_contents($slow));
    until(fn () => count(fpm($serve)) === 1);
    // A stop, too.
    array_map(fn ($file) => unlink(WORK . "/reloaded/$file"), ['begun', 'go']);
    $slow = popen("curl -s $serve->url/slow.php", 'r');
    until(fn () => file_exists(WORK . '/reloaded/begun'));
    $serve->signal();
    until(fn () => str_contains($serve->errors(), 'Stopping'));
    touch(WORK . '/reloaded/go');
    same('slow', stream_get_contents($slow));
    same(0, $serve->end());
};
$cases['serve: a directory, whose php-fpm is killed under load'] = function () {
    $folder = folder_of_scripts('killed');
    $serve = new Serving($folder, '--children', '2', '--log', 'off', '--set', 'queue_timeout=60', '--admin', 'unix:' . WORK . '/killed.sock');
    until(fn () => count(fpm($serve, true)) === 2);
    $killed = 0;
    $last = [];
    $answers = load("$serve->url/count.php", function (array $answers) use ($serve, &$killed, &$last) {
        $now = fpm($serve);
        if (count($now) === 1 && $now !== $last && count(fpm($serve, true)) === 2) {
            if ($killed === 3) {
                return true;
            }
            $last = $now;
            $killed++;
            posix_kill($now[0], SIGKILL);
        }
        return false;
    });
    // Its processes finish what they have, and the next ones take what waits.
    same(['200 counted'], array_keys($answers));
    same(3, substr_count($serve->errors(), 'spindle: php-fpm was ended by signal 9: starting it again in'));
    $admin = fn (string $path) => shell('curl -s --unix-socket ' . WORK . "/killed.sock http://admin$path");
    same([['php-fpm', fpm($serve)[0], 'running', 4, 3]], array_map(fn ($told) => [$told['name'], $told['pid'], $told['stage'], $told['starts'], $told['restarts']], json_decode($admin('/status'), true)['programs']));
    same(1, preg_match('~^spindle_program_restarts_total\{program="php-fpm"\} 3$~m', $admin('/metrics')));
    // A process of it that ends in the middle of a request takes that with it, and no other.
    $slow = popen("curl -s -o /dev/null -w '%{http_code}' $serve->url/slow.php", 'r');
    until(fn () => file_exists(WORK . '/killed/begun'));
    foreach (fpm($serve, true) as $child) {
        posix_kill($child, SIGKILL);
    }
    same('502', stream_get_contents($slow));
    same('counted', $serve->get('/count.php'));
    // Nothing of it is left when the command is killed.
    $all = [...fpm($serve), ...fpm($serve, true)];
    $serve->signal(SIGKILL);
    until(fn () => array_filter($all, fn ($pid) => file_exists("/proc/$pid")) === []);
};
$cases['serve: a directory, whose php-fpm crashes before a stop'] = function () {
    $folder = folder_of_scripts('crashed');
    $serve = new Serving($folder, '--children', '1', '--grace', '1', '--log', 'off');
    $slow = popen("curl -s -o /dev/null $serve->url/slow.php", 'r');
    until(fn () => file_exists(WORK . '/crashed/begun'));
    $all = [...fpm($serve), ...fpm($serve, true)];
    try {
        posix_kill($all[0], SIGKILL);
        until(fn () => str_contains($serve->errors(), 'starting it again') && count(fpm($serve, true)) === 1);
        same(2, count($all));
        array_push($all, ...fpm($serve), ...fpm($serve, true));
        $serve->signal();
        $serve->end();
        until(fn () => array_filter($all, fn ($pid) => file_exists("/proc/$pid")) === [], 20);
        same(1, substr_count($serve->errors(), 'spindle: processes of a php-fpm that has crashed do not end: they are killed'));
    } finally {
        touch(WORK . '/crashed/go');
    }
    pclose($slow);
};
$cases['serve: a directory, whose scripts hang'] = function () {
    $folder = folder_of_scripts('hanging');
    file_put_contents(WORK . "/$folder/hang.php", '<?php while (true) sleep(600);');
    file_put_contents(WORK . "/$folder/stall.php", '<?php echo "begun"; ob_flush(); flush(); while (true) sleep(600);');
    $serve = new Serving($folder, '--children', '2', '--log', 'off', '--set', 'request_timeout=3');
    until(fn () => count(fpm($serve, true)) === 2);
    // One that hangs, and one that does after the begin of its response: both processes are taken.
    $hangs = popen("curl -s -o /dev/null -w '%{http_code}' $serve->url/hang.php", 'r');
    same('begun (status 18)', $serve->get('/stall.php'));
    same('504', stream_get_contents($hangs));
    until(fn () => $serve->get('/count.php') === 'counted');
    until(fn () => preg_match_all('~^php-fpm: .*WARNING: .*/(hang|stall)\.php.* execution timed out .*terminating$~m', $serve->errors()) === 2);
};
$cases['serve: a directory, stopped at once'] = function () {
    $folder = folder_of_scripts('at-once');
    $serve = new Serving($folder, '--children', '32', '--log', 'off');
    $slow = popen("curl -s -o /dev/null $serve->url/slow.php", 'r');
    until(fn () => file_exists(WORK . '/at-once/begun') && count(fpm($serve, true)) === 32);
    $all = [...fpm($serve), ...fpm($serve, true)];
    $serve->signal();
    until(fn () => str_contains($serve->errors(), 'Stopping'));
    $serve->signal();
    $serve->end();
    until(fn () => array_filter($all, fn ($pid) => file_exists("/proc/$pid")) === []);
    same([33, 1, true], [count($all), substr_count($serve->errors(), 'php-fpm does not end: it is killed'), substr_count($serve->errors(), "\n") < 10]);
    pclose($slow);
};
if (posix_geteuid() === 0) {
    $cases['serve: a directory, as another user'] = function () {
        $folder = folder_of_scripts('others');
        chmod(WORK, 0755);
        $serve = new Serving($folder, '--user', 'nobody', '--log', 'off');
        same((string) posix_getpwnam('nobody')['uid'], substr(strrchr($serve->get('/ini.php'), ' '), 1));
        $serve->signal(SIGHUP);
        until(fn () => str_contains($serve->errors(), 'has taken over') && count(fpm($serve)) === 1);
        same('front / /index.php', $serve->get('/'));
        $serve->signal();
        same(0, $serve->end());
    };
    $cases['serve: a directory, as another user, who plants links for the configuration'] = function () {
        $folder = folder_of_scripts('planted');
        chmod(WORK, 0755);
        $victim = WORK . '/of-root';
        file_put_contents($victim, 'kept');
        chmod($victim, 0600);
        file_put_contents(WORK . "/$folder/plant.php", '<?php foreach (range(2, 9) as $n) echo (int) @symlink($_GET["to"], "$_GET[in]/conf.$n"); echo (int) @rename("$_GET[in]/socket", "$_GET[in]/x"), (int) @file_put_contents($_GET["conf"], "x");');
        $serve = new Serving($folder, '--user', 'nobody', '--log', 'off');
        until(function () use ($serve, &$found) { return fpm($serve) && preg_match('~(/\S*/spindle-fpm\.[^/]+)/conf\.\d+~', file_get_contents('/proc/' . fpm($serve)[0] . '/cmdline'), $found); });
        same('0000000000', $serve->get('/plant.php?' . http_build_query(['to' => $victim, 'in' => $found[1], 'conf' => $found[0]])));
        $serve->signal(SIGHUP);
        until(fn () => str_contains($serve->errors(), 'has taken over') && count(fpm($serve)) === 1);
        same(['kept', 0], [file_get_contents($victim), fileowner($victim)]);
        // The user finds the socket, and reads the configuration.
        same(['drwx--x---', 'srw-------', '-rw-r-----'], array_map(fn ($name) => shell("stat -c %A $found[1]/$name"), ['', 'socket', 'conf.3']));
        same('front / /index.php', $serve->get('/'));
        $serve->signal();
        same(0, $serve->end());
    };
}

/** Applications of the distribution, unpacked and not installed: see tests/applications. */
foreach (['wordpress' => ['Hello world!', '/wp-admin/load-styles.php?c=0&load=buttons', '/wp-includes/css/buttons.css'], 'phpmyadmin' => ['phpMyAdmin', '/js/messages.php?l=en&v=1', '/themes/dot.gif']] as $name => [$text, $script, $file]) {
    $cases["serve: a directory, $name"] = function () use ($name, $text, $script, $file) {
        require_once HERE . '/visitor.inc';
        $root = dirname(HERE, 2);
        $application = require "$root/tests/applications/pages-of-$name.php";
        exec("bash $root/tests/applications/fetch.bash package " . implode(' ', $application['packages']), $missing, $status);
        same([0, []], [$status, $missing]);
        $servers = WORK . "/servers-$name";
        shell("$root/scripts/servers start $servers mariadb");
        try {
            preg_match_all("/^export (\\w+)='?(.*?)'?$/m", file_get_contents("$servers/env"), $found, PREG_SET_ORDER);
            $server = array_column($found, 2, 1);
            putenv("SPINDLE_PAGES_PASSWORD=$server[SPINDLE_MYSQL_PASSWORD]");
            $mysql = function (string $statements) use ($server): void {
                $connection = new \mysqli($server['SPINDLE_MYSQL_HOST'], $server['SPINDLE_MYSQL_USER'], $server['SPINDLE_MYSQL_PASSWORD'], '', (int) $server['SPINDLE_MYSQL_PORT']);
                array_map($connection->query(...), array_filter(array_map(trim(...), explode(';', $statements))));
            };
            $mysql('drop database if exists pages; create database pages character set utf8mb4');
            // Its links lead to other packages: what they lead to is copied.
            $share = "$root/build/applications/unpacked/usr/share";
            $folder = WORK . "/$name-share/$name";
            @mkdir(dirname($folder));
            shell("cp -rL $share/$name " . dirname($folder));
            symlink("$share/php", dirname($folder) . '/php');
            $application['install']($folder, $server, $mysql);
            $serve = new Serving($folder, '--children', '2', '-d', "include_path=.:$share/php", '-d', 'memory_limit=256M', '-d', 'session.save_path=' . WORK, '--log', 'off', '--set', 'compression=true');
            $visitor = new \Applications\Visitor($serve->url);
            $application['visit']($visitor);
            $statuses = array_count_values($visitor->statuses);
            same([[], true], [array_keys(array_filter($visitor->statuses, fn ($status) => !in_array($status, [200, 302, 303, 404, 403, 500], true))), $statuses[200] >= $application['good']]);
            same(true, str_contains($visitor->visit('/'), $text));
            same([200, 200], [$visitor->visit($script) === '' ? 0 : end($visitor->statuses), $visitor->visit($file) === '' ? 0 : end($visitor->statuses)]);
            if ($name === 'wordpress') {
                same(true, str_contains($visitor->visit('/wp-admin/'), 'id="wpadminbar"'));
                $mysql("update pages.wp_options set option_value = '/%postname%/' where option_name = 'permalink_structure'; update pages.wp_options set option_value = '' where option_name = 'rewrite_rules'");
                same(true, str_contains($visitor->visit('/hello-world/'), 'Welcome to WordPress'));
            }
            foreach (['/wp-config.php' => '', '/.htaccess' => '', '/config.inc.php' => ''] as $path => $_) {
                same([$path, false], [$path, str_contains($visitor->visit($path), '<?php')]);
            }
            $serve->signal();
            same(0, $serve->end());
        } finally {
            shell("$root/scripts/servers stop $servers");
        }
    };
}
