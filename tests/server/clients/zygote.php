<?php
/*
 * `spindle serve --workers`: one PHP forks the workers of a generation (PROC-1).
 */

declare(strict_types=1);

namespace ServerTests;

/** The process that forks the workers of a command: a child of it that is none. */
function zygotes(Serving $serve, array $workers): array
{
    $children = preg_split('/\s+/', shell('ps -o pid= --ppid ' . command_of($serve)), -1, PREG_SPLIT_NO_EMPTY);
    return array_values(array_filter(array_diff($children, $workers), lives(...)));
}

/** The process of the command itself. */
function command_of(Serving $serve): string
{
    return (string) $serve->process();
}

/** What each worker answers to a path, by its process, which begins the answer. */
function of_each(Serving $serve, int $count, string $path): array
{
    $all = [];
    until(function () use ($serve, $count, $path, &$all) {
        [$pid, $rest] = explode(' ', $serve->get($path), 2);
        $all[$pid] = $rest;
        return count($all) === $count;
    });
    return $all;
}

const FORKED = <<<'PHP'
    require __DIR__ . '/part.php';
    $first = [mt_rand(), lcg_value(), random_int(0, PHP_INT_MAX), bin2hex(openssl_random_pseudo_bytes(8)), array_rand(range(0, 1_000_000)), uniqid('', true)];
    return function (Async\Http\Request $request) use ($first) {
        $answer = match ($request->path()) {
            '/first' => json_encode([...$first, Async\Http\requestId()]),
            '/opcache' => json_encode(opcache_get_status(true)['scripts'][realpath(__DIR__ . '/part.php')]),
            '/part' => PART,
            '/sockets' => json_encode(array_values(array_filter(array_map(fn($fd) => @readlink("/proc/self/fd/$fd"), scandir('/proc/self/fd')), fn($to) => str_starts_with((string) $to, 'socket:')))),
            '/environment' => json_encode([getenv('SPINDLE_ZYGOTE'), posix_getpgid(0) === getmypid(), posix_getppid()]),
            default => '',
        };
        return trim(getmypid() . ' ' . $answer);
    };
    PHP;

$cases['serve: workers share the code that one of them has compiled, and nothing that they must not'] = function () {
    file_put_contents(WORK . '/part.php', "<?php const PART = 'old';\n");
    touch(WORK . '/part.php', time() - 60); // opcache keeps no file that has just changed
    $serve = new Serving('--workers', '3', app('forked.php', FORKED));
    $all = workers($serve, 3);
    same(1, count(zygotes($serve, $all)));
    // Each has included it once.
    foreach (of_each($serve, 3, '/opcache') as $script) {
        same([2, true], [json_decode($script)->hits, json_decode($script)->memory_consumption > 0]);
    }
    $first = array_map(json_decode(...), of_each($serve, 3, '/first'));
    foreach (range(0, 6) as $kind) {
        same(3, count(array_unique(array_column($first, $kind))));
    }
    foreach (of_each($serve, 3, '/environment') as $environment) {
        same([false, true, (int) command_of($serve)], json_decode($environment));
    }
    // What is told to one worker is not heard by another one.
    $ends = array_map(json_decode(...), of_each($serve, 3, '/sockets'));
    $common = array_intersect(...array_values($ends));
    same(1, count(array_unique($common))); // where it listens
    foreach ($ends as $pid => $own) {
        foreach (array_diff_key($ends, [$pid => 0]) as $others) {
            same([], array_diff(array_intersect($own, $others), $common));
        }
    }
    // New code is that of another PHP.
    file_put_contents(WORK . '/part.php', "<?php const PART = 'new';\n");
    touch(WORK . '/part.php', time() - 60);
    same(['old', 'old', 'old'], array_values(of_each($serve, 3, '/part')));
    [$before] = zygotes($serve, $all);
    $serve->signal(SIGHUP);
    until(fn() => str_contains($serve->errors(), 'the new PHP has taken over'));
    $all = workers($serve, 3, without: $all);
    same(['new', 'new', 'new'], array_values(of_each($serve, 3, '/part')));
    until(fn() => !lives($before));
    [$after] = zygotes($serve, $all);
    $serve->signal();
    same(0, $serve->end());
    same([], array_filter([$after, ...$all], lives(...)));
};
$cases['serve: workers go on without the PHP that has forked them, and another one takes its place'] = function () {
    file_put_contents(WORK . '/part.php', "<?php const PART = 'part';\n");
    $serve = new Serving('--workers', '2', '--log', 'off', app('forked.php', FORKED));
    $all = workers($serve, 2);
    [$zygote] = zygotes($serve, $all);
    $load = popen('exec wrk -t1 -c8 -d4s ' . escapeshellarg("$serve->url/") . ' 2>&1', 'r');
    // Signals that a whole service gets mean nothing to it.
    foreach ([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2] as $signal) {
        posix_kill((int) $zygote, $signal);
    }
    posix_kill((int) $all[0], SIGTERM); // it finishes, and another one is forked
    $all = workers($serve, 2, without: [$all[0]]);
    same([$zygote], zygotes($serve, $all));
    posix_kill((int) $zygote, SIGKILL);
    until(fn() => str_contains($serve->errors(), "spindle: the PHP that forks workers was ended by signal 9: the next worker has another one start\n"));
    same([true, true], array_map(lives(...), $all));
    posix_kill((int) $all[0], SIGTERM);
    $all = workers($serve, 2, without: [$all[0]]);
    $seen = stream_get_contents($load);
    same([1, 0], [preg_match('~[1-9]\d* requests in~', $seen), preg_match('~Socket errors|Non-2xx~', $seen)]);
    [$another] = zygotes($serve, $all);
    same(true, $another !== $zygote);
    // One that was killed is forked again.
    posix_kill((int) $all[0], SIGKILL);
    until(fn() => str_contains($serve->errors(), 'was ended by signal 9: starting it again'));
    $all = workers($serve, 2, without: [$all[0]]);
    same([$another], zygotes($serve, $all));
    // The end of the command is theirs.
    posix_kill((int) command_of($serve), SIGKILL);
    until(fn() => array_filter([$another, ...$all], lives(...)) === []);
};
$cases['serve: where code is preloaded, no worker is forked with what that has opened'] = function () {
    file_put_contents(WORK . '/preload.php', "<?php class Preloaded {}\n");
    $user = posix_geteuid() === 0 ? ['--user', 'nobody'] : [];
    chmod(WORK, 0755);
    $serve = new Serving('--workers', '2', ...$user, ...['-d', 'opcache.preload=' . WORK . '/preload.php', app('preloads.php', 'return fn() => (string) getmypid() . (class_exists("Preloaded", false) ? "" : " without");')]);
    $all = workers($serve, 2);
    same([], zygotes($serve, $all));
    same(1, preg_match_all('~^spindle: each worker starts a PHP of its own, as opcache.preload runs code before$~m', $serve->errors()));
    same(true, ctype_digit(serving($serve)));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a PHP that does not get to fork is ended, and one that has threads forks no workers'] = function () {
    // As an extension that has a thread from its start on.
    file_put_contents(WORK . '/thread.c', <<<'C'
        #include <pthread.h>
        #include <unistd.h>
        static void *waits(void *none) { for (;;) pause(); }
        __attribute__((constructor)) static void begins(void) { pthread_t thread; pthread_create(&thread, 0, waits, 0); }
        C);
    same('', shell('cc -shared -fPIC -o ' . WORK . '/thread.so ' . WORK . '/thread.c -lpthread'));
    file_put_contents(WORK . '/threaded', "#!/bin/sh\ncase \$* in *worker*) LD_PRELOAD=" . WORK . '/thread.so exec ' . PHP_BINARY . " \"\$@\";; *) exec " . PHP_BINARY . " \"\$@\";; esac\n");
    chmod(WORK . '/threaded', 0755);
    $serve = new Serving('--php', WORK . '/threaded', '--workers', '2', app('pid-handler.php', 'return fn() => (string) getmypid();'));
    $all = workers($serve, 2);
    same(1, preg_match_all('~^spindle: each worker starts a PHP of its own, as an extension of PHP has started threads: there are 2$~m', $serve->errors()));
    same([], zygotes($serve, $all));
    posix_kill((int) $all[0], SIGKILL);
    $all = workers($serve, 2, without: [$all[0]]);
    $serve->signal();
    same(0, $serve->end());
    // One that never gets as far as to fork does not keep the command from its end.
    file_put_contents(WORK . '/preload.php', "<?php file_put_contents(__DIR__ . '/begun', posix_getpid()); while (true);\n");
    file_put_contents(WORK . '/endless.toml', "app = 'pid-handler.php'\nworkers = 2\nlisten = ['127.0.0.1:0']\nadmin = ['unix:" . WORK . "/endless.sock']\n");
    $serve = new Serving('--config', 'endless.toml');
    $all = workers($serve, 2);
    @unlink(WORK . '/begun');
    file_put_contents(WORK . '/endless.toml', "[ini]\n'opcache.preload' = '" . WORK . "/preload.php'\n'opcache.preload_user' = '" . posix_getpwuid(posix_geteuid())['name'] . "'\n", FILE_APPEND);
    $serve->signal(SIGHUP);
    until(fn() => (int) @file_get_contents(WORK . '/begun'));
    $preloads = file_get_contents(WORK . '/begun');
    same(2, count(zygotes($serve, $all)));
    same(true, in_array(serving($serve), $all, true));
    $serve->signal();
    same(0, $serve->end());
    same([], array_filter([$preloads, ...$all], lives(...)));
};
