"""Clients of a server, until standard input ends: served-client.py ADDRESS KIND. Prints a line with the time for each failure, and at the end how
much of each kind was done, as JSON."""

import asyncio, json, sys, time, websockets

address, kind = sys.argv[1], sys.argv[2]
host, port = address.split(':')
counts = {}
over = asyncio.Event()


async def ask(method, path, pieces=(), leave=None):
    """Sends a request, and returns the body of the answer, or leaves after a while."""
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        length = sum(len(piece) for piece in pieces)
        writer.write(f'{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n'.encode())
        for piece in pieces:
            await asyncio.sleep(0.1)
            writer.write(piece)
            await writer.drain()
        if leave is not None:
            await asyncio.sleep(leave)
            return b''
        answer = await reader.read()
        assert answer.startswith(b'HTTP/1.1 200 '), answer[:100]
        return answer.split(b'\r\n\r\n', 1)[1]
    finally:
        writer.close()


async def pages():
    assert (await ask('GET', '/')).isdigit()


async def uploads():
    assert await ask('POST', '/upload', [b'x' * 1000] * 30) == b'30000'


async def events():
    assert (await ask('GET', '/events')).count(b'data: event ') == 20


async def leaves():
    await ask('GET', '/wait', leave=0.05)


async def sockets():
    async with websockets.connect(f'ws://{address}/') as socket:
        for i in range(20):
            try:
                await socket.send(f'{i}')
                assert await socket.recv() == f'{i}'
            except websockets.ConnectionClosed as e:
                if e.rcvd is None or e.rcvd.code != 1001:  # the server is replaced
                    raise
                return
            await asyncio.sleep(0.1)


async def topics():
    async def publish():
        while True:
            await asyncio.sleep(0.1)
            await ask('GET', '/publish')
    # A topic whose worker is replaced meanwhile ends with that. What fails is told when it does.
    tasks = [asyncio.create_task(ask('GET', '/topic')), asyncio.create_task(publish())]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def repeat(what):
    while not over.is_set():
        try:
            await asyncio.wait_for(what(), 60)
            counts[what.__name__] = counts.get(what.__name__, 0) + 1
        except Exception as e:
            print(time.time(), what.__name__, type(e).__name__, str(e).replace('\n', ' ')[:200], flush=True)
            await asyncio.sleep(0.05)


async def main():
    kinds = [pages, pages, uploads, events, leaves] + ([sockets, topics] if kind == 'handler' else [])
    counts.update({what.__name__: 0 for what in kinds})
    tasks = [asyncio.create_task(repeat(what)) for what in kinds for _ in range(2)]
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    over.set()
    await asyncio.gather(*tasks)
    print(json.dumps(counts))


asyncio.run(main())
