<?php
/* Each function of the table, and where it is not to be called: EXT-1; tickets: EXT-2; cancellations: EXT-3; declarations: EXT-4. */

namespace Authors;

$kit = <<<'PHP'
    use function Async\{spawn, await, delay, suspend, currentCoroutine};
    function show(mixed ...$values): void { echo implode(', ', array_map(fn ($value) => is_string($value) ? $value : json_encode($value), $values)), "\n"; }
    function ended($coroutine): string { try { return json_encode(await($coroutine)); } catch (Throwable $e) { return get_class($e); } }
    function parked($coroutine, string $what): void { while (($coroutine->getAwaitingInfo()['call'] ?? '') !== $what) { delay(1); } }
    PHP;

/** A case with the probe: a script, and what it prints. */
$probe = static function (string $name, string $code, string $expected, array $environment = [], array $more = []) use (&$cases, $kit): void {
    $cases["probe: $name"] = static function () use ($code, $expected, $environment, $more, $kit): void {
        same("$expected\n", php("$kit\n$code", [EXTENSION, probe(), ...array_map(installed(...), $more)], $environment));
    };
};

$probe('a wait that a thread ends', <<<'PHP'
    $c = spawn(function () { $ticket = probe_begin_wait(); probe_wake_by_thread($ticket, 1_000_000); return probe_park($ticket); });
    show(ended($c));
    PHP, '"woken"');

$probe('a wake-up before the park is not lost', <<<'PHP'
    spawn(fn () => 1);
    $ticket = probe_begin_wait();
    probe_wake_by_thread($ticket, 0, 1, true);
    show(probe_park($ticket));
    $ticket = probe_begin_wait();
    probe_wake($ticket);
    show(probe_park($ticket));
    PHP, "woken\nwoken");

$probe('twice, and late, wakes nothing else', <<<'PHP'
    spawn(fn () => 1);
    $ticket = probe_begin_wait();
    probe_wake_by_thread($ticket, 0, 1000, true);
    show(probe_park($ticket));
    probe_wake_by_thread($ticket, 0, 1000, true);
    probe_wake($ticket);
    show(probe_park(0, 0), probe_park(0, 1_000_000));
    $next = probe_begin_wait();
    probe_wake($ticket);
    show(probe_park($next, 0), $next !== $ticket);
    probe_wake(0);
    probe_wake(-1);
    probe_wake(1 << 31);
    probe_wake((1 << 40) + 77777);
    PHP, "woken\ntimed out, timed out\ntimed out, true");

$probe('a park with an old ticket lets others run, and can be cancelled', <<<'PHP'
    $c = spawn(function () { $ticket = probe_begin_wait(); probe_begin_wait(); for (;;) { probe_park($ticket); } });
    $others = spawn(function () { for ($i = 0; $i < 5; $i++) { suspend(); } return 'have run'; });
    show(ended($others));
    $c->cancel();
    show(ended($c));
    PHP, "\"have run\"\nAsync\\CancellationException");

$probe('a ticket of another coroutine parks nobody for long', <<<'PHP'
    $ticket = null;
    $c = spawn(function () use (&$ticket) { $ticket = probe_begin_wait(); return probe_park($ticket); });
    parked($c, 'probe');
    show(probe_park($ticket));
    probe_wake($ticket);
    show(ended($c));
    PHP, "woken\n\"woken\"");

$probe('before the first spawn nothing is suspended', <<<'PHP'
    show(probe_can_park(), probe_current(), probe_begin_wait(), probe_park(), probe_cancelled(), probe_sleep(1000));
    probe_throw_pending();
    spawn(fn () => show(probe_can_park(), probe_current()));
    show(probe_can_park(), probe_current());
    PHP, "false, 1, 0, failed: EPERM, false, timed out\ntrue, 1\ntrue, 2");

$probe('where switches are forbidden', <<<'PHP'
    spawn(fn () => 1);
    $ticket = probe_begin_wait();
    probe_forbid(); probe_forbid();
    show(probe_can_park(), probe_begin_wait(), probe_park($ticket), probe_sleep(1000), probe_job(true));
    probe_allow();
    show(probe_can_park());
    probe_allow(); probe_allow(); probe_allow();
    show(probe_can_park(), probe_park(0, 0));
    PHP, "false, 0, failed: EPERM, timed out, woken\nfalse\ntrue, timed out");

$probe('what a coroutine has left forbidden ends with it', <<<'PHP'
    await(spawn(function () { probe_forbid(); probe_forbid(); }));
    show(probe_can_park());
    PHP, 'true');

$probe('and what the freeing of its values has left forbidden', <<<'PHP'
    function freed_by_php() { probe_forbid(); }
    await(spawn(fn () => probe_local(0, 1, true)));
    show(probe_freed(), probe_can_park());
    PHP, '1, true');

$probe('in an output callback it waits', <<<'PHP'
    $got = [];
    await(spawn(function () use (&$got) {
        ob_start(function (string $text) use (&$got) { $got[] = [probe_can_park(), probe_park(0, 1000)]; probe_wake(77); return $text; });
        echo 'own, ';
        ob_end_flush();
    }));
    show($got);
    PHP, 'own, [[true,"timed out"]]');

$probe('in a callback where the engine allows no switch', <<<'PHP'
    class Text { static array $got = []; function __toString() { self::$got[] = [probe_can_park(), probe_begin_wait(), probe_park(), probe_sleep(1000)]; probe_wake(77); return 'text'; } }
    await(spawn(function () { $texts = [new Text, 'other']; array_multisort($texts, SORT_STRING); }));
    show(Text::$got[0]);
    PHP, '[false,0,"failed: EPERM","timed out"]');

$probe('in a destructor it waits', <<<'PHP'
    class Waits { function __destruct() { show(probe_can_park(), probe_park(0, 1_000_000)); } }
    show(ended(spawn(function () { $it = new Waits; $it = null; return 'ended'; })));
    PHP, "true, timed out\n\"ended\"");

$probe('in shutdown functions and the last destructors', <<<'PHP'
    class Last { function __destruct() { show(probe_can_park(), probe_begin_wait(), probe_park(), probe_current() > 0, probe_spawn_c(null) !== null); } }
    $last = new Last;
    register_shutdown_function(function () { show(probe_can_park(), probe_park(), probe_job(true)); probe_local(0, 5); });
    spawn(fn () => 1);
    PHP, "false, failed: EPERM, woken\nfalse, 0, failed: EPERM, true, true");

$probe('a signal ends a wait, and its handler waits for nothing', <<<'PHP'
    pcntl_async_signals(true);
    $seen = [];
    pcntl_signal(SIGUSR1, function () use (&$seen) { $seen = [probe_can_park(), probe_park()]; });
    $c = spawn(fn () => [probe_park(), probe_park(0, 0)]);
    parked($c, 'probe');
    while (!$c->isCompleted()) { exec('kill -USR1 ' . getmypid()); } // one that comes while code runs ends no wait
    show(...$seen);
    show(ended($c));
    PHP, "false, failed: EPERM\n[\"interrupted\",\"timed out\"]");

$probe('in a fiber', <<<'PHP'
    spawn(fn () => 1);
    $fiber = new Fiber(fn () => show(probe_park(0, 1_000_000)));
    $fiber->start();
    PHP, 'timed out');

$probe('on another thread all functions refuse', <<<'PHP'
    show(probe_all_on_a_thread());
    spawn(fn () => show(probe_all_on_a_thread()));
    PHP, "0\n0");

$probe('in the child of a fork', <<<'PHP'
    $ticket = null;
    $other = spawn(function () use (&$ticket) { probe_local(0, 1000); $ticket = probe_begin_wait(); return probe_park($ticket); });
    probe_local(0, 7);
    parked($other, 'probe');
    $c = spawn(function () use (&$ticket) {
        probe_local(0, 30);
        if (($child = pcntl_fork()) === 0) {
            probe_wake_by_thread($ticket, 0, 1, true);
            $own = probe_begin_wait();
            probe_wake_by_thread($own);
            show(probe_can_park(), probe_park($own), probe_park(0, 0), ended(spawn(fn () => probe_local(0))), probe_local(0), probe_job(true));
            register_shutdown_function(fn () => show(probe_freed()));
            return;
        }
        pcntl_waitpid($child, $status);
        show(pcntl_wexitstatus($status));
        probe_wake_by_thread($ticket);
    });
    await($c);
    if (isset($other)) { show(ended($other), probe_freed()); }
    PHP, "true, woken, timed out, 0, 30, woken\n30\nfreed: 30\n0\n\"woken\", 1030\nfreed: 1037", ['PROBE_FREED' => '1']);

$probe('when the process ends', 'spawn(fn () => 1); probe_leave();', 'at the end of the process: 0', ['PROBE_END' => '1']);

$probe('when the process ends without a coroutine', '', 'at the end of the process: 0', ['PROBE_END' => '1']);

$probe('after an exit', <<<'PHP'
    $ticket = null;
    spawn(function () use (&$ticket) { probe_local(0, 5); $ticket = probe_begin_wait(); probe_park($ticket); });
    register_shutdown_function(function () use (&$ticket) { probe_wake_by_thread($ticket, 0, 2, true); probe_wake($ticket); show(probe_park(), probe_freed()); });
    suspend();
    exit("exits\n");
    PHP, "exits\nfailed: EPERM, 0");

$probe('cancelled: before, in and after each wait', <<<'PHP'
    foreach (['park' => fn () => probe_park(), 'sleep' => fn () => probe_sleep(60_000_000_000), 'late' => function () { try { delay(60_000); } catch (Async\CancellationException $e) {} return probe_park(0, 0); },
        'never' => fn () => probe_park()] as $name => $body) {
        $c = spawn($body);
        if ($name !== 'never') { suspend(); }
        $c->cancel();
        show($name, ended($c));
    }
    PHP, "park, Async\\CancellationException\nsleep, Async\\CancellationException\nlate, \"timed out\"\nnever, Async\\CancellationException");

$probe('cancelled: further waits end at once until the function returns', <<<'PHP'
    $c = spawn(function () { try { show(probe_waits_after_cancel()); } finally { show(probe_cancelled(), probe_park(0, 0)); } });
    parked($c, 'first');
    $c->cancel();
    show(ended($c));
    PHP, "still cancelled\nfalse, timed out\nAsync\\CancellationException");

$probe('cancelled: an exception that is thrown early', <<<'PHP'
    $c = spawn(fn () => probe_cleans_up());
    parked($c, 'first');
    $c->cancel();
    show(ended($c));
    PHP, "cancelled, thrown: yes, not cancelled, then timed out\nAsync\\CancellationException");

$probe('cancelled: code that computes asks', <<<'PHP'
    $c = spawn(function () { $seen = [probe_cancelled()]; currentCoroutine()->cancel(); $seen[] = probe_cancelled(); show($seen); probe_throw_pending(); show('not here'); });
    show(ended($c));
    PHP, "[false,true]\nAsync\\CancellationException");

$probe('a wake-up and a cancellation at once', <<<'PHP'
    $ticket = null;
    $c = spawn(function () use (&$ticket) { try { $ticket = probe_begin_wait(); return probe_park($ticket); } finally { show(probe_park(0, 0)); } });
    suspend();
    probe_wake($ticket);
    $c->cancel();
    show(ended($c));
    PHP, "timed out\nAsync\\CancellationException");

$probe('descriptors', <<<'PHP'
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    [$x, $y] = [probe_fd($a), probe_fd($b)];
    show(probe_wait_fd($x, 4), probe_wait_fd($x, 1, 0), probe_wait_fd(9999, 1), probe_wait_fd(-1, 1, 1000));
    $c = spawn(fn () => [probe_wait_fd($x, 1), fread($a, 10), probe_wait_fd($x, 1, 0), probe_wait_fd($x, 1 | 4)]);
    parked($c, 'ppoll');
    fwrite($b, 'sent');
    show(ended($c));
    $c = spawn(fn () => probe_wait_fd($x, 1));
    parked($c, 'ppoll');
    $c->cancel();
    show(ended($c), fwrite($b, 'more'), fread($a, 10));
    PHP, "woken, timed out, failed: EBADF, failed: EBADF\n[\"woken\",\"sent\",\"timed out\",\"woken\"]\nAsync\\CancellationException, 4, more");

$probe('a descriptor that is used by system calls which are not seen', <<<'PHP'
    [$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    stream_set_blocking($a, false);
    $x = probe_fd($a);
    $got = [];
    $c = spawn(function () use ($x, &$got) {
        while (count($got) < 3) { probe_wait_fd($x, 1); if (($read = probe_read_unseen($x)) > 0) { $got[] = $read; } }
        // The last edge may be believed once more, and no further.
        probe_wait_fd($x, 1, 1_000_000);
        return [...$got, probe_wait_fd($x, 1, 1_000_000), probe_wait_fd($x, 1, 1_000_000)];
    });
    for ($i = 0; $i < 3; $i++) {
        parked($c, 'ppoll');
        fwrite($b, 'sent');
        while (count($got) === $i) { delay(1); }
    }
    show(ended($c));
    PHP, '[4,4,4,"timed out","timed out"]');

$probe('jobs', <<<'PHP'
    show(probe_job(true), probe_jobs());
    $c = spawn(fn () => probe_job(true));
    show(ended($c), probe_jobs());
    $c = spawn(fn () => probe_job(false));
    parked($c, 'job');
    $c->cancel();
    show(ended($c), probe_jobs()['dropped']);
    probe_open();
    while (probe_jobs()['dropped'] === 0) { delay(1); }
    show(probe_jobs());
    PHP, "woken, {\"ran\":1,\"dropped\":0,\"on other threads\":0}\n\"woken\", {\"ran\":2,\"dropped\":0,\"on other threads\":1}\n"
    . "Async\\CancellationException, 0\n{\"ran\":3,\"dropped\":1,\"on other threads\":2}");

$probe('coroutines of PHP functions', <<<'PHP'
    class Magic { function __call($name, $arguments) { return "$name $arguments[0]"; } static function named(int $a, int $b) { return $a - $b; } }
    show(ended(probe_spawn(fn ($a) => "called with $a", 5)), ended(probe_spawn([new Magic, 'any'], 'thing')), ended(probe_spawn('Magic::named', b: 1, a: 3)),
        ended(probe_spawn('strtoupper', 'abc')), ended(probe_spawn_value('phpversion')) === json_encode(PHP_VERSION));
    foreach (['nowhere', 5, null] as $not) { try { probe_spawn_value($not); } catch (Error $e) { show($e->getMessage()); } }
    PHP, "\"called with 5\", \"any thing\", 2, \"ABC\", true\nA value of type string cannot be called\nA value of type int cannot be called\n"
    . "A value of type null cannot be called");

$probe('a call that is resolved keeps its object', <<<'PHP'
    class Its { public string $own = 'own'; function value() { return $this->own; } }
    $all = [probe_spawn_cache([new Its, 'value']), probe_spawn_cache((new Its)->value(...)), probe_spawn_cache(new class { function __invoke() { return 'invoked'; } })];
    foreach (['a', 'b'] as $value) { $all[] = probe_spawn_cache(function () use ($value) { return $value; }); }
    $all[] = probe_spawn_cache(phpversion(...));
    $others = array_map(fn () => [new Its, fn () => 1], range(1, 100)); // in the place of what has been freed
    show(...array_map(ended(...), array_slice($all, 0, 5)));
    show(ended($all[5]) === json_encode(PHP_VERSION));
    PHP, "\"own\", \"own\", \"invoked\", \"a\", \"b\"\ntrue");

$probe('when the engine has freed all objects', 'spawn(fn () => 1);', 'at the end of the request: 0', ['PROBE_LATE' => '1']);

$probe('all coroutines are refused in a closed scope', <<<'PHP'
    $scope = new Async\Scope;
    $c = $scope->spawn(function () use ($scope) {
        $scope->cancel();
        try { probe_spawn(fn () => 1); } catch (Async\AsyncException $e) { show('closed'); }
        try { probe_spawn_c(null); } catch (Async\AsyncException $e) { show('closed', probe_dropped()); }
    });
    show(ended($c));
    PHP, "closed\nclosed, 1\nAsync\\CancellationException"); // the coroutine itself is cancelled, and what Xdebug does is a wait

$probe('coroutines of C code', <<<'PHP'
    show(ended(probe_spawn_c(null)), ended(probe_spawn_c(fn () => probe_park(0, 1_000_000))), ended(probe_spawn_c(function () { throw new LogicException; })), probe_dropped());
    $c = probe_spawn_c(fn () => show('never'));
    $c->cancel();
    show(ended($c), probe_dropped());
    $c = probe_spawn_c(fn () => probe_park());
    parked($c, 'probe');
    $c->cancel();
    show(ended($c), probe_dropped());
    PHP, "null, \"timed out\", LogicException, 3\nAsync\\CancellationException, 4\nAsync\\CancellationException, 5");

$probe('in the child of a fork nothing is dropped but what lives on', <<<'PHP'
    $parks = probe_spawn_c(fn () => probe_park());
    parked($parks, 'probe');
    await(probe_spawn_c(function () {
        probe_spawn_c(null); // it has not begun
        if (pcntl_fork() !== 0) { pcntl_wait($status); }
    }));
    exit;
    PHP, "dropped: 1\ndropped: 3", ['PROBE_DROPPED' => '1']);

$probe('results of awaitables', <<<'PHP'
    show(probe_await(spawn(fn () => 'value')));
    try { probe_await(spawn(fn () => throw new LogicException('fails'))); } catch (LogicException $e) { show($e->getMessage()); }
    try { probe_await(new stdClass); } catch (Error $e) { show($e->getMessage()); }
    $c = spawn(fn () => probe_await(spawn(fn () => delay(60_000))));
    parked($c, 'await');
    $c->cancel();
    show(ended($c));
    probe_forbid();
    try { probe_await(spawn(fn () => 1)); } catch (Async\AsyncException $e) { show('not here'); }
    exit;
    PHP, "value\nfails\nAn object of the class stdClass cannot be awaited\nAsync\\CancellationException\nnot here");

$probe('values of coroutines', <<<'PHP'
    function freed_by_php() { show('freed', probe_park(0, 1_000_000), probe_local(0, 70)); }
    probe_local(0, 1000);
    await(spawn(function () { show(probe_local(0, 3), probe_local(0), probe_local(1, 4)); suspend(); show(probe_local(0, 5)); }));
    show(probe_freed(), probe_local(0));
    await(spawn(fn () => probe_local(1, 2, true)));
    show(probe_freed());
    spawn(fn () => [probe_local(0, 500), probe_park()]);
    suspend();
    exit;
    PHP, "0, 3, 0\n3\n9, 1000\nfreed, timed out, 0\n81");
$probe('declarations: calls that hold nothing run concurrently, others take turns', <<<'PHP'
    $in = function (string $function, int $count, mixed ...$arguments): void {
        $all = [];
        for ($i = 0; $i < $count; $i++) { $all[] = spawn(fn () => $function(...$arguments)); }
        for ($i = 0; $i < 5; $i++) { suspend(); }
        show($function, ...array_count_values(array_map(fn ($c) => $c->getAwaitingInfo()['call'], $all)));
        foreach ($all as $c) { $c->cancel(); }
        foreach ($all as $c) { ended($c); }
    };
    $stream = fopen('php://memory', 'r');
    $in('probe_park', 3);
    $in('probe_alone', 3);
    $in('probe_by_handle', 3, $stream);
    $in('probe_by_handle', 3);
    show(probe_declare_late());
    PHP, "probe_park, 3\nprobe_alone, 1, 2\nprobe_by_handle, 1, 2\nprobe_by_handle, 3\nfalse");

// Not under AddressSanitizer: a fatal error leaves the stack of a coroutine by a jump, which it does not expect there.
$cases['probe: what dies in freeing a value leaves the others, and the end of the request is no loop'] = static function () use ($kit): void {
    same("freed -7\nfreed -2\nfreed -7\nfreed -7\nfreed -7\n[255]", php($kit . <<<'PHP'

        error_reporting(0);
        function freed_by_php() { trigger_error('dies', E_USER_ERROR); }
        probe_local(0, -7);
        await(spawn(function () { probe_local(0, 1, true); probe_local(1, -2); }));
        show('not reached');
        PHP, [EXTENSION, probe()]));
};

$cases['probe: what has given up a job stays loaded, since that goes on'] = static function () use ($kit): void {
    $preloaded = ['LD_PRELOAD' => compile('maps.so', [HERE . '/maps.c'])];
    $given_up = '$c = spawn(fn () => probe_job(false)); parked($c, "job"); $c->cancel(); show(ended($c));';
    same("the probe is unloaded\n", php('', [EXTENSION, probe()], $preloaded));
    same("Async\\CancellationException\nthe probe is loaded\n", php("$kit\n$given_up", [EXTENSION, probe()], $preloaded));
};

$cases['probe: what is declared says php --ri spindle'] = static function (): void {
    $info = command([PHP_BINARY, '-n', '-d', 'extension=' . EXTENSION, '-d', 'extension=' . probe(), '--ri', 'spindle']);
    same(1, preg_match('/^Extension probe => proven: calls run concurrently, as the extension declares$/m', $info));
};

$cases['probe: a ticket of an earlier request wakes nothing'] = static function (): void {
    file_put_contents(WORK . '/tickets.php', <<<'PHP'
        <?php
        use function Async\spawn;
        spawn(fn () => 1);
        $ticket = probe_begin_wait();
        $old = (int) ($_GET['old'] ?? 0);
        if ($old !== 0) { probe_wake_by_thread($old, 0, 3, true); }
        $why = probe_park($ticket, 0);
        echo $old === $ticket ? 'the same' : 'another', " $why $ticket";
        PHP);
    $fpm = new \Sapi\Fpm(fpm(), WORK, ['extension=' . EXTENSION, 'extension=' . probe()]);
    $connection = $fpm->connect();
    $old = 0;
    for ($i = 0; $i < 20; $i++) {
        $body = $connection->get(WORK . '/tickets.php', "old=$old")->body;
        same(1, preg_match('/^another timed out (\d+)$/', $body, $found), $body);
        $old = $found[1];
    }
};

/** The php-fpm of this PHP. */
function fpm(): string
{
    $version = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
    $found = trim((string) shell_exec("command -v php-fpm$version /usr/sbin/php-fpm$version php-fpm | head -n 1"));
    return $found !== '' ? $found : throw new \Exception("there is no php-fpm; 'scripts/setup test' installs it");
}

foreach (['Xdebug' => Under::xdebug(...), 'AddressSanitizer' => Under::sanitizer(...)] as $name => $under) {
    $cases["probe: under $name"] = static function () use (&$cases, $under): string {
        $these = array_filter($cases, static fn (string $name) => preg_match('/^probe: (?!under|all|what|a ticket of an)/', $name) === 1, ARRAY_FILTER_USE_KEY);
        array_map($under, $these);
        return count($these) . ' cases';
    };
}

$cases['probe: AddressSanitizer finds an error that is planted'] = static function (): void {
    Under::sanitizer(static fn () => same(1, preg_match('/AddressSanitizer: heap-buffer-overflow/', php('probe_plant();', [EXTENSION, probe()]))));
};
