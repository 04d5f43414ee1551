<?php
/*
 * Many idle connections to one process, for tests/server/strain: idle.php CONNECTIONS [CERTIFICATE KEY]. The clients are a child
 * process, so both need that many descriptors. Prints as JSON what it has found; all of it must hold, but for the memory.
 */

use Async\Http\{Response, Server, Tls};
use function Async\{await, delay, spawn};

[, $count] = $argv;
$count = (int) $count;
$tls = isset($argv[2]) ? new Tls($argv[2], $argv[3]) : null;

/** A line from /proc/self/status, in bytes. */
function resident(): int
{
    preg_match('/^VmRSS:\s+(\d+)/m', file_get_contents('/proc/self/status'), $found);
    return 1024 * (int) $found[1];
}

function expect(bool $holds, string $what): void
{
    if (!$holds) {
        fwrite(STDERR, "$what\n");
        leave();
    }
}

/** Ends this process, without the end of the script: the clients have a server, too. The other process sees it by their pipe. */
function leave(): never
{
    pcntl_exec('/bin/sh', ['-c', 'exit 1']);
}

function ask($stream): void
{
    fwrite($stream, "GET / HTTP/1.1\r\nHost: example\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n");
    for ($answer = ''; !str_ends_with($answer, 'Hello'); $answer .= $piece) {
        $piece = (string) fread($stream, 8192);
        expect($piece !== '', 'a connection is not answered');
    }
}

/** Says when it has done something, and goes on when it hears a line: the first connections, all of them, each asked again, all closed. */
function clients(string $address, int $count, bool $tls, $control): void
{
    $said = static function () use ($control): void {
        fwrite($control, "done\n");
        expect(fgets($control) !== false, 'the server has ended');
    };
    foreach ([1, 2, 3] as $round) {
        $all = [];
        foreach ([intdiv($count, 10), $count] as $many) {
            while (count($all) < $many) {
                // An address has less than 30,000 ports.
                $options = ['ssl' => ['verify_peer' => false, 'verify_peer_name' => false], 'socket' => ['bindto' => '127.0.0.' . 2 + intdiv(count($all), 20_000) . ':0']];
                $all[] = $stream = stream_socket_client(($tls ? 'tls' : 'tcp') . "://$address", $code, $error, 600, STREAM_CLIENT_CONNECT, stream_context_create($options));
                expect($stream !== false, 'connection ' . count($all) . " fails: $error");
                ask($stream);
            }
            $said();
        }
        array_map(ask(...), $all);
        $said();
        unset($all, $stream);
        $said();
    }
}

ini_set('default_socket_timeout', '3600');
[$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$server = (new Server(['max_connections' => 1_000_000, 'keep_alive' => 0, 'header_timeout' => 600]))->listen('127.0.0.1:0', $tls)
    ->handle(static fn() => new Response('Hello', 200, ['Content-Type' => 'text/plain']));
$child = pcntl_fork();
if ($child === 0) {
    fclose($ours);
    clients($server->address(), $count, $tls !== null, $theirs);
    leave();
}
fclose($theirs);
$running = spawn($server->run(...));
// Called when the clients have done something: what is to be looked at, before they go on.
$next = static function (callable $look) use ($ours): mixed {
    expect(fgets($ours) === "done\n", 'the clients have failed');
    $found = $look();
    fwrite($ours, "go on\n");
    return $found;
};
$look = static fn(): array => [count(scandir('/proc/self/fd')), count(Async\getCoroutines())];
$before = $look();
$each = $count - intdiv($count, 10);
$found = ['connections' => $count];
foreach (['', ', second round', ', third round'] as $round) {
    $first = $next(resident(...));
    $memory ??= $first;
    $found["bytes$round"] = $next(static function () use ($server, $look, $before, $count, $memory, $each): int {
        $grown = resident() - $memory;
        expect($server->stats()['connections'] === $count, 'connections have ended');
        expect($look() === [$before[0] + $count, $before[1]], 'idle connections have more than a descriptor each');
        return intdiv($grown, $each);
    });
    $found["asked again$round"] = $next(static fn(): int => intdiv(resident() - $memory, $each));
    $next(static function () use ($server, $look, $before): void {
        while ($server->stats()['connections'] > 0) delay(10);
        expect($look() === $before, 'descriptors or coroutines are left');
    });
}
$stats = $server->stats();
expect([$stats['accepted'], $stats['requests'], $stats['refused'], $stats['cancelled']] === [3 * $count, 6 * $count, 0, 0], 'the server has counted ' . json_encode($stats));
pcntl_waitpid($child, $status);
$server->stop();
await($running);
echo json_encode($found), "\n";
