<?php
declare(strict_types=1);
require_once __DIR__ . '/../kit.php';

use Async\{Barrier, Channel, Interval, Mutex, Pool, Semaphore};
use function Async\{await, select, signal, spawn, timeout, trySelect};

/** @var Channel<int> $channel */
$channel = new Channel(5);
$channel->send(3);
$channel->send(4);
$channel->trySend(5);
(fn () => $channel->send('three')); // ERROR
takes_int($channel->recv());
(fn () => takes_string($channel->recv())); // ERROR
takes_int($channel->tryRecv() ?? 0);
takes_int($channel->tryRecv()); // ERROR

[$key, $value] = select(['news' => $channel, 'time' => timeout(1000), 'sent' => [new Channel, 3]]);
takes_string($key);
takes_int($key); // ERROR
$chosen = trySelect([$channel]);
takes_int($chosen[0] ?? 0);

$channel->send(6);
$channel->close();
foreach ($channel as $position => $value) {
    takes_int($position);
    takes_int($value);
    takes_string($value); // ERROR
}

$pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
if ($pair === false) exit(1);
[$near, $far] = $pair;
fwrite($near, "line\n");
fclose($near);
foreach (Channel::fromStream($far) as $line) {
    takes_string($line);
    takes_int($line); // ERROR
}

$pool = new Pool(fn (): ArrayObject => new ArrayObject, max: 1);
takes_int($pool->with(fn (ArrayObject $object): int => count($object)));
takes_string($pool->with(fn (ArrayObject $object): int => count($object))); // ERROR
$object = $pool->acquire();
takes_int($object->count());
takes_int($object); // ERROR
$pool->release($object);
$pool->release('an object'); // ERROR

takes_int((new Semaphore(1))->with(fn (): int => 3));
takes_string((new Mutex)->with(fn (): int => 3)); // ERROR
(new Barrier(1))->await();
foreach (new Interval(1) as $tick) {
    takes_int($tick);
    break;
}

$arrival = signal(SIGUSR1);
spawn(fn () => posix_kill(posix_getpid(), SIGUSR1));
takes_int(await($arrival));
takes_string(await($arrival)); // ERROR
