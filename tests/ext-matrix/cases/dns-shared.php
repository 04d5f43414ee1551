<?php
// needs: dns ext:sockets
// One look-up for coroutines that ask for the same name at the same time. The name server counts the questions in its answers.
namespace Matrix;

use Async;

\putenv('RES_OPTIONS=timeout:5 attempts:1');

/** @return list<array> the entries of getaddrinfo() */
function entries(string $name, array $hints = []): array
{
    $found = \socket_addrinfo_lookup($name, '80', $hints + ['ai_family' => AF_INET]);
    return $found === false ? [] : \array_map(\socket_addrinfo_explain(...), $found);
}

/** Starts it, and returns when it waits. */
function started(callable $work): Async\Coroutine
{
    $coroutine = Async\spawn($work);
    while (!$coroutine->isSuspended()) {
        Async\suspend();
    }
    return $coroutine;
}

/** The answers of many at once; the next call is a new question. */
function once(Check $check, callable $ask, string $name): void
{
    $answers = \array_map(finished(...), \array_map(fn() => started(fn() => $ask($name)), \range(1, 50)));
    $first = $ask($name);
    \count(\array_unique($answers, SORT_REGULAR)) === 1 or $check->problem('answers: ' . \json_encode($answers));
    [$one, $two] = [\json_encode($answers[0]), \json_encode($first)];
    \str_contains($one, '10.2.0.1"') or $check->problem("first: $one");
    \str_replace('10.2.0.2"', '10.2.0.1"', $two) === $one && $one !== $two or $check->problem("afterwards: $two");
}

with_coroutines('gethostbyname', fn(Check $check) => once($check, \gethostbyname(...), 'count1.w300.test'));
with_coroutines('gethostbynamel', fn(Check $check) => once($check, \gethostbynamel(...), 'count2.w300.test'));
with_coroutines('getaddrinfo', fn(Check $check) => once($check, entries(...), 'count3.w300.test'));
with_coroutines('many addresses, freed by each asker', function (Check $check): void {
    $all = \array_map(finished(...), \array_map(fn() => started(fn() => entries('many.w300.test')), \range(1, 20)));
    \count($all[0]) >= 100 or $check->problem('entries: ' . \count($all[0]));
    \count(\array_unique($all, SORT_REGULAR)) === 1 or $check->problem('they differ');
    // (in the same order: glibc sorts them by their routes)
    $all[0] === entries('many.w300.test') or $check->problem('a look-up of its own has another answer');
});
with_coroutines('failures are shared too', function (Check $check): void {
    $all = \array_map(finished(...), \array_map(fn() => started(fn() => \gethostbyname('no1.w300.test')), \range(1, 20)));
    \array_unique($all) === ['no1.w300.test'] or $check->problem(\json_encode($all));
    $all = \array_map(finished(...), \array_map(fn() => started(fn() => @entries('no1.w300.test')), \range(1, 20)));
    \array_unique($all, SORT_REGULAR) === [[]] or $check->problem(\json_encode($all));
});
with_coroutines('other questions are not joined', function (Check $check): void {
    $ask = [
        fn() => entries('count4.w300.test'),
        fn() => entries('count4.w300.test', ['ai_socktype' => SOCK_STREAM]),
        fn() => \gethostbyname('count4.w300.test'),
        fn() => entries('count4.w300.test', ['ai_flags' => AI_CANONNAME]),
        fn() => entries('count4.w300.test', ['ai_flags' => AI_CANONNAME]),
    ];
    $all = \array_map(finished(...), \array_map(started(...), $ask));
    $addresses = \array_map(fn($found) => \is_string($found) ? $found : $found[0]['ai_addr']['sin_addr'], $all);
    \count(\array_unique($addresses)) === 5 or $check->problem(\json_encode($addresses));
    \count($all[1]) === 1 && \count($all[0]) > 1 or $check->problem('hints: ' . \json_encode($all));
});
with_coroutines('a cancelled asker cancels no other', function (Check $check): void {
    foreach ([\gethostbyname(...), entries(...)] as $n => $ask) {
        $askers = \array_map(fn() => started(fn() => $ask("count5$n.w400.test")), \range(1, 5));
        $askers[0]->cancel();
        $askers[2]->cancel();
        Async\delay(20);
        $askers[0]->isCompleted() && $askers[2]->isCompleted() or $check->problem('cancelled, and still waiting');
        $late = started(fn() => $ask("count5$n.w400.test"));
        foreach ([$askers[1], $askers[3], $askers[4], $late] as $asker) {
            $answer = \json_encode(finished($asker));
            \str_contains($answer, '10.2.0.1"') or $check->problem($answer);
        }
    }
    // All are cancelled: the look-up is nobody's, and the next one is another.
    $askers = \array_map(fn() => started(fn() => entries('count6.w300.test')), \range(1, 3));
    \array_map(fn(Async\Coroutine $asker) => $asker->cancel(), $askers);
    Async\delay(20);
    \str_contains(\json_encode(entries('count6.w300.test')), '10.2.0.2"') or $check->problem('an abandoned look-up was joined');
});
with_coroutines('no answer that is older than a change of the configuration', function (Check $check): void {
    foreach ([
        fn() => \file_put_contents('/etc/resolv.conf', "# changed\n", FILE_APPEND),
        fn() => \putenv('LOCALDOMAIN=changed.test'),
    ] as $n => $change) {
        $first = started(fn() => \gethostbyname("count7$n.w300.test"));
        $change();
        $second = started(fn() => \gethostbyname("count7$n.w300.test"));
        $answers = [finished($first), finished($second)];
        \sort($answers); // either worker may be faster
        $answers === ['10.2.0.1', '10.2.0.2'] or $check->problem(\json_encode($answers));
        Async\delay(50); // a file that was changed just now has no part in this
    }
});
with_coroutines('a look-up that takes long is not joined', function (Check $check): void {
    $first = started(fn() => \gethostbyname('count8.w700.test'));
    Async\delay(200);
    $second = started(fn() => \gethostbyname('count8.w700.test'));
    $answers = [finished($first), finished($second)];
    $answers === ['10.2.0.1', '10.2.0.2'] or $check->problem(\json_encode($answers));
});
with_coroutines('the child of a fork asks by itself', function (Check $check): void {
    if (!\function_exists('pcntl_fork')) {
        return;
    }
    $first = started(fn() => \gethostbyname('count9.w300.test'));
    $child = \pcntl_fork();
    if ($child === 0) {
        // The parent's look-up does not exist here.
        \posix_kill(\getmypid(), ['10.2.0.1' => SIGUSR1, '10.2.0.2' => SIGUSR2][\gethostbyname('count9.w300.test')] ?? SIGKILL);
    }
    \pcntl_waitpid($child, $status);
    $answers = [finished($first), [SIGUSR1 => '10.2.0.1', SIGUSR2 => '10.2.0.2'][\pcntl_wtermsig($status)] ?? null];
    \sort($answers);
    $answers === ['10.2.0.1', '10.2.0.2'] or $check->problem(\json_encode($answers));
});
