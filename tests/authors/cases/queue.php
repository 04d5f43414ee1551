<?php
/* The example in C: the same program with Spindle and without, and in other programs than the command. */

namespace Authors;

$cases['queue: the library blocks without Spindle, and before the first spawn'] = static function (): void {
    $code = '$q = new Acme\Queue; $q->publish("a"); $q->publish("b"); var_dump($q->receive(), $q->receive(1.5), $q->receive(0.01), $q->receive(0));';
    $expected = "string(1) \"a\"\nstring(1) \"b\"\nNULL\nNULL\n";
    same($expected, php($code, [queue()]));
    same($expected, php($code, [EXTENSION, queue()]));
    same($expected, php("$code\nAsync\\spawn(fn () => 1);", [queue(), EXTENSION]));
};

const RECEIVERS = <<<'PHP'
    use function Async\{spawn, await, delay};
    $q = new Acme\Queue;
    $waiting = fn (array $all) => array_filter($all, fn ($c) => ($c->getAwaitingInfo()['call'] ?? '') === 'Acme\Queue::receive');
    PHP;

$cases['queue: 1,000 coroutines receive from one queue, each one message'] = $many = static function (): void {
    same("1000 wait, 1000 messages\n", php(RECEIVERS . <<<'PHP'
        $all = array_map(fn () => spawn(fn () => $q->receive()), range(1, 1000));
        while (count($waiting($all)) < 1000) { delay(1); }
        echo count($waiting($all)), ' wait, ';
        foreach (range(1, 1000) as $i) { $q->publish("message $i"); }
        echo count(array_unique(array_map(fn ($c) => await($c), $all))), " messages\n";
        PHP, [EXTENSION, queue()]));
};

$cases['queue: one producer, and others go on while they wait'] = static function (): void {
    same("499500\n", php(RECEIVERS . <<<'PHP'
        $sum = 0;
        foreach (range(1, 10) as $_) { $all[] = spawn(function () use ($q, &$sum) { while (($text = $q->receive()) !== 'end') { $sum += (int) $text; } }); }
        spawn(function () use ($q) { foreach (range(0, 999) as $i) { $q->publish("$i"); if ($i % 7 === 0) { delay(0); } } foreach (range(1, 10) as $_) { $q->publish('end'); } });
        foreach ($all as $c) { await($c); }
        echo "$sum\n";
        PHP, [EXTENSION, queue()]));
};

// A receiver that is cancelled is in one of these states, and none loses the message that another one then gets.
foreach ([
    'before it has begun' => '$c->cancel(); $q->publish("message");',
    'while it waits' => 'while (!$waiting([$c])) { delay(1); } $c->cancel(); $q->publish("message");',
    'when it has been woken' => 'while (!$waiting([$c])) { delay(1); } $q->publish("message"); usleep(0); $c->cancel();',
    'when the message has arrived' => 'while (!$waiting([$c])) { delay(1); } $q->publish("message"); delay(1); $c->cancel();',
] as $state => $cancel) {
    $cases["queue: cancelled $state"] = static function () use ($cancel): void {
        $printed = php(RECEIVERS . <<<PHP
            \$c = spawn(fn () => \$q->receive());
            $cancel
            \$d = spawn(fn () => \$q->receive(0.5));
            try { \$got = await(\$c); } catch (Async\\CancellationException \$e) { \$got = null; }
            echo \$got ?? await(\$d) ?? 'lost', "\\n";
            PHP, [EXTENSION, queue()]);
        same("message\n", $printed);
    };
}

$cases['queue: coroutines that an exit abandons'] = static function (): void {
    same("exits\n", php(RECEIVERS . 'foreach (range(1, 20) as $_) { spawn(fn () => $q->receive()); } delay(1); register_shutdown_function(fn () => $q->publish("late")); exit("exits\n");', [EXTENSION, queue()]));
};

$cases['queue: under Xdebug'] = static fn () => Under::xdebug($many);

$cases['queue: under AddressSanitizer'] = static function () use (&$cases): string {
    $these = array_filter($cases, static fn (string $name) => preg_match('/^queue: (the library|one|cancelled|coroutines)/', $name) === 1, ARRAY_FILTER_USE_KEY);
    array_map(Under::sanitizer(...), $these);
    return count($these) . ' cases';
};

$cases['queue: what docs/authors.md shows'] = static function (): void {
    $page = file_get_contents(ROOT . '/docs/authors.md');
    preg_match_all('/^```c\n(.*?)^```/ms', $page, $blocks);
    $sources = implode('', array_map(file_get_contents(...), glob(ROOT . '/examples/extensions/*/*.c')));
    // All but the first are parts of the examples, but for comments of their own; that one is no whole program.
    foreach (array_slice($blocks[1], 1) as $block) {
        $lines = array_filter(explode("\n", $block), static fn (string $line) => $line !== '');
        same([], array_values(array_filter($lines, static fn (string $line) => !str_contains($sources, $line))), 'lines that are in no example');
    }
    same(4, count($blocks[1]));
    same(1, preg_match('/^```rust\n(.*?)^```/ms', $page, $rust));
    same(true, str_contains(file_get_contents(ROOT . '/examples/extensions/http/src/lib.rs'), $rust[1]));
    same(1, preg_match('/^```php\n(.*?)^```/ms', $page, $php));
    same("1000\n", php($php[1], [EXTENSION, queue()]));
};

const PAGE = <<<'PHP'
    use function Async\{spawn, await};
    $q = new Acme\Queue;
    $all = array_map(fn () => spawn(fn () => $q->receive()), range(1, 10));
    foreach (range(1, 10) as $i) { $q->publish("$i"); }
    $sum = array_sum(array_map(fn ($c) => (int) await($c), $all));
    spawn(fn () => $q->receive());
    PHP;

$cases['queue: requests of php-fpm, each of which leaves a coroutine that waits'] = static function (): void {
    file_put_contents(WORK . '/page.php', "<?php\n" . PAGE . "\nAsync\\suspend(); echo \$sum; exit;");
    $fpm = new \Sapi\Fpm(fpm(), WORK, ['extension=' . EXTENSION, 'extension=' . queue()]);
    $connection = $fpm->connect();
    same('55', $connection->get(WORK . '/page.php')?->body);
    $worker = $fpm->workers();
    for ($i = 0; $i < 200; $i++) {
        same('55', $connection->get(WORK . '/page.php')?->body);
    }
    same($worker, $fpm->workers(), 'the worker');
    same(1, count(glob("/proc/$worker[0]/task/*")), 'threads');
};

$cases['queue: instances of spindle serve'] = static function (): void {
    mkdir(WORK . '/ini');
    file_put_contents(WORK . '/ini/queue.ini', 'extension=' . queue() . "\n");
    file_put_contents(WORK . '/app.php', <<<'PHP'
        <?php
        return function (int $instance): callable {
            $q = new Acme\Queue;
            $served = 0;
            return function () use ($q, &$served): void {
                $q->publish('message ' . ++$served);
                echo $q->receive();
            };
        };
        PHP);
    $command = [dirname(EXTENSION) . '/spindle', 'serve', '--php', PHP_BINARY, '--extension', EXTENSION, '--listen', '127.0.0.1:0', '--log', 'off', '--mode', 'application', '--instances', '4', WORK . '/app.php'];
    $process = proc_open($command, [['file', '/dev/null', 'r'], ['file', WORK . '/serve.out', 'w'], ['file', WORK . '/serve.err', 'w']], $pipes, WORK, ['PHP_INI_SCAN_DIR' => ':' . WORK . '/ini'] + getenv());
    try {
        \Sapi\until('spindle serve listens', static function () use ($process, &$found): bool {
            proc_get_status($process)['running'] || throw new Failed('it does not start: ' . file_get_contents(WORK . '/serve.err'));
            return preg_match('~at http://([^/\s]+)/~', file_get_contents(WORK . '/serve.err'), $found) === 1;
        });
        $handles = curl_multi_init();
        $all = [];
        for ($i = 0; $i < 64; $i++) {
            curl_multi_add_handle($handles, $all[] = $handle = curl_init("http://$found[1]/"));
            curl_setopt_array($handle, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 60]);
        }
        do {
            curl_multi_exec($handles, $running);
            curl_multi_select($handles, 1);
        } while ($running > 0);
        $got = array_map(curl_multi_getcontent(...), $all);
        same(64, count(preg_grep('/^message \d+$/', $got)), substr(file_get_contents(WORK . '/serve.err'), 0, 1000) . $got[0]);
    } finally {
        proc_terminate($process);
        \Sapi\until('spindle serve ends', static fn () => !proc_get_status($process)['running']);
    }
};
