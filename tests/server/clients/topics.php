<?php
/*
 * Topics: messages to all that have subscribed, in all workers of `spindle serve` (PROC-6).
 */

declare(strict_types=1);

namespace ServerTests;

/** Runs a program in Python, with WebSockets to a server and what it needs of the test. */
function sockets(Serving $serve, string $body, string ...$arguments): string
{
    $indented = preg_replace('/^/m', '    ', $body);
    file_put_contents(WORK . '/topics.py', <<<PY
        import asyncio, os, signal, sys, websockets
        connect = lambda path, **options: websockets.connect('ws' + sys.argv[1][4:] + path, **options)
        # Many at a time, so that every worker has some: returns them, and who serves them.
        async def join(count, path='/'):
            sockets = await asyncio.gather(*[connect(path) for i in range(count)])
            return sockets, [await s.recv() for s in sockets]
        async def main():
        $indented
        asyncio.run(main())
        PY);
    return shell('/usr/bin/python3 ' . WORK . "/topics.py $serve->url " . implode(' ', array_map(escapeshellarg(...), $arguments)));
}

/** A socket is told who serves it, and then everything that any socket says. */
const ROOM = <<<'PHP'
    return function (Async\Http\Request $r) {
        $room = new Async\Http\Topic('room');
        if (!$r->isWebSocket()) {
            if ($r->path() === '/say') for ($i = 0; $i < (int) $r->query('times', 1); $i++) $room->publish($r->query('text') . $i);
            return (string) getmypid();
        }
        $lines = $room->subscribe((int) $r->query('capacity', 64));
        $socket = $r->upgrade();
        $socket->send((string) getmypid());
        Async\spawn(function () use ($socket, $lines) {
            try {
                foreach ($lines as $line) $socket->send($line);
            } catch (Async\Http\MessagesLost $lost) {
                $socket->close(4000, $lost->getMessage());
            }
        });
        foreach ($socket as $message) $room->publish((string) $message);
        $lines->close();
        return null;
    };
    PHP;
$cases['serve: the chat of examples/ with four workers, a browser and another client'] = function () {
    $serve = new Serving(dirname(HERE, 2) . '/examples/http-chat.php', '--workers', '4', '--log', 'off');
    $browser = 'chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --remote-debugging-port=0 --user-data-dir='
        . WORK . "/browser2 '$serve->url/?say=h%C3%A4llo' >" . WORK . '/browser2.log 2>&1';
    $said = sockets($serve, <<<'PY'
        async with connect('/?name=Anna') as s:
            print(await s.recv())
            browser = await asyncio.create_subprocess_shell('exec ' + sys.argv[2])
            print(await s.recv())
            print(await s.recv())
            browser.terminate()
            await browser.wait()
            print(await s.recv())
        PY, $browser);
    same(1, preg_match("~^Anna has come\n(guest [0-9a-f]{6}) has come\n\\1: h\u{e4}llo\n\\1 has left\$~", $said) ?: $said);
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a message comes to the subscribers of all workers, in the order of who says it'] = function () {
    $serve = new Serving(app('room.php', ROOM), '--workers', '4', '--log', 'off', '--admin', 'unix:' . WORK . '/admin.sock');
    $all = workers($serve, 4);
    same('fine', sockets($serve, <<<'PY'
        all, workers = [], []
        while len(set(workers)) < 4:
            more, of = await join(8, '/?capacity=500') # none is lost, however late these clients are
            all, workers = all + more, workers + of
        speakers = [next(s for s, of in zip(all, workers) if of == worker) for worker in set(workers)]
        # All that have come so far are subscribed when they hear this.
        async def speak(number, socket):
            for i in range(50): await socket.send(f'{number} {i}')
        async def hear(socket):
            heard = [await socket.recv() for i in range(200)]
            return [[line for line in heard if line.startswith(f'{number} ')] for number in range(4)]
        hearing = [asyncio.create_task(hear(s)) for s in all]
        await asyncio.gather(*[speak(number, s) for number, s in enumerate(speakers)])
        for heard in await asyncio.gather(*hearing):
            assert heard == [[f'{number} {i}' for i in range(50)] for number in range(4)], heard
        await asyncio.gather(*[s.close() for s in all])
        print('fine')
        PY));
    same([200.0, 0.0], array_map(metric(...), ['spindle_topic_messages_total', 'spindle_topic_messages_lost_total']));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: topics go on during a reload, and when a worker is killed'] = function () {
    $serve = new Serving(app('room.php', ROOM), '--workers', '2', '--log', 'off', '--grace', '60');
    workers($serve, 2);
    same('fine', sockets($serve, <<<'PY'
        old, before = [], []
        while len(set(before)) < 2:
            more, of = await join(8)
            old, before = old + more, before + of
        async def say(by, text, to):
            await by.send(text)
            for s in to: assert (heard := await s.recv()) == text, heard
        await say(old[0], 'before', old)
        # One that is killed takes its own with it.
        victim = before[0]
        os.kill(int(victim), signal.SIGKILL)
        for s, of in zip(old, before):
            if of == victim: await s.wait_closed()
        old = [s for s, of in zip(old, before) if of != victim]
        await say(old[0], 'after the kill', old)
        after = []
        while len(set(after)) < 2:
            more, of = await join(8)
            old, after = old + more, after + of
        assert victim not in after
        await say(old[-1], 'with its successor', old)
        # During a reload: the old workers still have these, which are closed when they are told to stop.
        os.kill(int(sys.argv[2]), signal.SIGHUP)
        async def heard(socket):
            lines = []
            try:
                while True: lines.append(await socket.recv())
            except websockets.ConnectionClosed as e: assert e.rcvd.code == 1001, e
            return lines
        speaking = True
        said = []
        listening = [asyncio.create_task(heard(s)) for s in old]
        try:
            while True:
                await old[0].send(text := f'while it reloads {len(said)}')
                said.append(text)
                await asyncio.sleep(0.01)
        except websockets.ConnectionClosed: pass
        for lines in await asyncio.gather(*listening):
            assert lines == said[:len(lines)], (lines, said)
        new, now = [], []
        while len(set(now)) < 2:
            more, of = await join(8)
            new, now = new + more, now + of
        assert not set(now) & set(after), (now, after)
        await say(new[0], 'at last', new)
        await asyncio.gather(*[s.close() for s in new])
        print('fine')
        PY, (string) $serve->process()));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: subscribers in an old worker that still answers a request get messages of new ones'] = function () {
    $app = app('events.php', <<<'PHP'
        return function (Async\Http\Request $r) {
            $topic = new Async\Http\Topic('events');
            if ($r->path() === '/events') return Async\Http\Response::events((function () use ($topic) {
                $events = $topic->subscribe();
                file_put_contents(__DIR__ . '/begun', getmypid());
                foreach ($events as $event) {
                    yield $event;
                    if ($event === 'last') return;
                }
            })());
            if ($r->path() === '/say') $topic->publish($r->query('text'));
            return (string) getmypid();
        };
        PHP);
    $serve = new Serving($app, '--log', 'off', '--grace', '60');
    $events = begin($serve, '/events');
    $old = file_get_contents(WORK . '/begun');
    $serve->signal(SIGHUP);
    until(fn() => str_contains($serve->errors(), 'the new PHP has taken over'));
    until(fn() => serving($serve) !== $old);
    foreach (['one', 'two', 'last'] as $text) {
        same(true, $serve->get("/say?text=$text") !== $old);
    }
    same("data: one\n\ndata: two\n\ndata: last\n\n 200", stream_get_contents($events));
    until(fn() => !lives($old));
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: a worker that stands still loses messages, is told so, and keeps no one waiting'] = function () {
    $serve = new Serving(app('room.php', ROOM), '--workers', '2', '--log', 'off', '--admin', 'unix:' . WORK . '/admin.sock');
    $all = workers($serve, 2);
    same("fine", sockets($serve, <<<'PY'
        import urllib.request
        all, of = [], []
        while len(set(of)) < 2:
            more, workers = await join(8)
            all, of = all + more, of + workers
        stopped, running = of[0], next(worker for worker in of if worker != of[0])
        behind = [s for s, worker in zip(all, of) if worker == stopped]
        others = [s for s, worker in zip(all, of) if worker == running]
        os.kill(int(stopped), signal.SIGSTOP)
        long = 'x' * 200000
        for i in range(50):
            await others[0].send(f'{i} {long}')
            for s in others: assert (await s.recv()).startswith(f'{i} ')
        os.kill(int(stopped), signal.SIGCONT)
        # What was kept comes in order, then an end that says why.
        for s in behind:
            heard = 0
            try:
                while True:
                    assert (await s.recv()).startswith(f'{heard} ')
                    heard += 1
            except websockets.ConnectionClosed as e:
                assert (e.rcvd.code, e.rcvd.reason) == (4000, 'The subscription has ended: messages were lost between processes'), e
            assert 20 <= heard < 50, heard
        # A new subscription gets all again.
        again, of = [], []
        while stopped not in of:
            more, workers = await join(8)
            again, of = again + more, of + workers
        await others[0].send('again')
        for s in others + again: assert await s.recv() == 'again'
        print('fine')
        PY));
    same(1, preg_match_all('~^spindle: worker [12], process \d+, does not take messages of topics: it loses them until it does$~m', $serve->errors()));
    same(true, metric('spindle_topic_messages_lost_total') >= 20.0);
    $serve->signal();
    same(0, $serve->end());
};
$cases['serve: what an app writes to the socket of topics ends that worker\'s messages alone'] = function () {
    $app = app('forges.php', str_replace("if (!\$r->isWebSocket()) {", <<<'PHP'
        if ($r->path() === '/forge') {
            file_put_contents(__DIR__ . '/forger', getmypid());
            foreach (glob('/proc/self/fd/*') as $fd) {
                $stream = str_contains((string) @readlink($fd), 'socket:') ? @fopen('php://fd/' . basename($fd), 'r+') : false;
                $stream && @fwrite($stream, str_repeat("\xff", 64));
            }
            return (string) getmypid();
        }
        if (!$r->isWebSocket()) {
        PHP, ROOM));
    $serve = new Serving($app, '--workers', '3', '--log', 'off');
    $all = workers($serve, 3);
    $serve->get('/forge', '--max-time 3');
    until(fn() => preg_match('~spindle: worker \d has sent what is no message of a topic: it is not listened to~', $serve->errors()));
    same('fine', sockets($serve, <<<'PY'
        all, of = [], []
        while len(set(of)) < 3:
            more, workers = await join(8)
            all, of = all + more, of + workers
        one, two = [s for w, s in { w: s for w, s in zip(of, all) }.items() if w != sys.argv[2]][:2]
        for s, other in [(one, two), (two, one)]:
            await s.send('hello')
            assert await s.recv() == await other.recv() == 'hello'
        print('fine')
        PY, file_get_contents(WORK . '/forger')));
    $serve->signal();
    $serve->end();
};
$cases['serve: messages between machines, by Redis as documented'] = function () {
    preg_match('~^## Messages between machines$.*?^```php\n(.*?)^```~ms', file_get_contents(dirname(HERE, 2) . '/docs/scaling.md'), $found);
    file_put_contents(WORK . '/bridge.php', $found[1]);
    symlink(shell('sh -c "command -v redis-server || command -v redis-check-rdb"'), WORK . '/redis-server');
    $port = free_port();
    $redis = fn() => proc_open([WORK . '/redis-server', '--port', (string) $port, '--bind', '127.0.0.1', '--save', ''], [['file', '/dev/null', 'r'], ['file', WORK . '/redis.log', 'a'], ['redirect', 1]], $pipes, WORK);
    $server = $redis();
    $subscribers = fn() => trim((string) strrchr(shell("redis-cli -p $port pubsub numsub news"), "\n"));
    try {
        until(fn() => shell("redis-cli -p $port ping") === 'PONG');
        mkdir(WORK . '/other');
        copy(WORK . '/bridge.php', WORK . '/other/bridge.php');
        $through = ['env', "REDIS_PORT=$port"];
        // Two machines, each with its own lock.
        $one = new Serving('bridge.php', '--workers', '2', '--log', 'off', through: $through);
        $other = new Serving('other/bridge.php', '--workers', '2', '--log', 'off', through: $through);
        until(fn() => $subscribers() === '2');
        $next = function ($client) {
            stream_set_timeout($client, 60);
            while (($line = fgets($client)) !== false) if (str_starts_with($line, 'data: ')) return rtrim(substr($line, 6));
            throw new \Exception('no event');
        };
        $clients = array_map(fn(int $i) => stream_socket_client('tcp' . substr(($i % 2 ? $one : $other)->url, 4)), range(1, 16));
        array_walk($clients, fn($client) => fwrite($client, "GET / HTTP/1.1\r\nHost: test\r\n\r\n"));
        same(array_fill(0, 16, 'welcome'), array_map($next, $clients));
        foreach ([[$one, 'from one'], [$other, 'from the other']] as [$from, $text]) {
            same('', $from->get('/', "-X POST -d '$text'"));
            same(array_fill(0, 16, $text), array_map($next, $clients));
        }
        // Redis goes away, and comes back.
        proc_terminate($server);
        until(fn() => !proc_get_status($server)['running']);
        $server = $redis();
        until(fn() => $subscribers() === '2');
        same('', $one->get('/', "-X POST -d 'again'"));
        same(array_fill(0, 16, 'again'), array_map($next, $clients));
        array_map(fn($client) => stream_socket_shutdown($client, STREAM_SHUT_RDWR), $clients); // Redis has inherited them
        foreach ([$one, $other] as $serve) {
            $serve->signal();
            same(0, $serve->end());
        }
    } finally {
        proc_terminate($server);
        proc_close($server);
    }
};
