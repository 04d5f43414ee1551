<?php
/*
 * WebSockets and event streams, with Python and a browser.
 */

declare(strict_types=1);

namespace ServerTests;

$cases['WebSockets: the library websockets'] = $cases['TLS: WebSockets'] = function (App $app) {
    same("chat\nfine", websockets($app, <<<'PY'
        async with connect('/echo', subprotocols=['other', 'chat'], origin='https://elsewhere') as s:
            print(s.subprotocol)
            for size in [0, 1, 125, 126, 127, 65535, 65536, 1000000]:
                for data in ['a' * size, bytes(size)]:
                    await s.send(data)
                    assert await s.recv() == data, size
            async def parts():
                for part in ['a', 'b', '', 'c']: yield part
            await s.send(parts())
            assert await s.recv() == 'abc'
            await (await s.ping())
            await s.close(4001, 'bye')
        async with connect('/echo') as s:
            await s.send('close')
            try: await s.recv(); assert False
            except websockets.ConnectionClosed as e: assert (e.rcvd.code, e.rcvd.reason) == (4000, 'as asked'), e
        for sent, code in [('throw', 1011), ('x' * 1100000, 1009)]:
            async with connect('/echo', max_size=None) as s:
                await s.send(sent)
                try: await s.recv(); assert False
                except websockets.ConnectionClosed as e: assert e.rcvd.code == code, e
        try: await connect('/hello'); assert False
        except websockets.InvalidStatusCode as e: assert e.status_code == 200
        sockets = []
        for some in range(10): sockets += await asyncio.gather(*[connect('/echo') for i in range(20)]) # each in its time
        await asyncio.gather(*[s.send(str(i)) for i, s in enumerate(sockets)])
        assert await asyncio.gather(*[s.recv() for s in sockets]) == [str(i) for i in range(200)]
        for s in sockets[::2]: s.transport.abort()
        await asyncio.gather(*[s.close() for s in sockets[1::2]])
        print('fine')
        PY));
    until(fn() => $app->stats()['websockets'] === 0 && $app->stats()['running'] === 1);
};
$cases['a browser: WebSocket and EventSource'] = $cases['TLS: a browser'] = function (App $app) {
    $page = browse("$app->url/page");
    preg_match_all('~<li>(.*?)</li>~', $page, $lines);
    $of = fn(string $what) => array_values(array_filter($lines[1], fn($line) => str_starts_with($line, 'socket') === ($what === 'socket')));
    same(["socket h\u{e4}llo chat", 'socket 70000 chat', 'socket 4000 as asked true end'], $of('socket'));
    same(["event \"two\\nlines: \u{e4}\" ", 'tick now 7', 'came again end'], $of('event'));
};
$cases['an event stream ends when its client leaves'] = function (App $app) {
    $before = $app->stats()['ended'];
    same("data: x\n\n:\n\n:", shell("timeout 10 curl -sN http://$app->address/endless | head -5"));
    until(fn() => $app->stats()['ended'] > $before && $app->stats()['running'] === 1);
};
