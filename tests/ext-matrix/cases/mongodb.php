<?php
// needs: peer ext:mongodb
// The client of MongoDB. There is no server in Debian: only that it gives way while it waits for one.
namespace Matrix;

use MongoDB\Driver\Command;
use MongoDB\Driver\Exception\ConnectionException;
use MongoDB\Driver\Manager;

$silent = \stream_socket_server('tcp://127.0.0.1:0');
$nobody = \stream_socket_get_name($silent, false);

/** Each gets a client of its own: the extension shares those that are equal. */
function ping(string $address, int $ms, int $i): string
{
    try {
        $manager = new Manager("mongodb://$address/", ['serverSelectionTimeoutMS' => $ms, 'connectTimeoutMS' => $ms, 'appname' => "client $i"],
            ['disableClientPersistence' => true]);
        $manager->executeCommand('db', new Command(['ping' => 1]));
        return 'an answer';
    } catch (ConnectionException $e) {
        return \preg_replace('/\d{2,}/', '#', $e::class . ': ' . $e->getMessage());
    }
}

matrix('a server that does not answer', fn(int $i) => ping($nobody, ms(), $i), n: 10);
matrix('nobody there', fn(int $i) => ping('127.0.0.1:1', ms(), $i), n: 3, evidence: 'none');
matrix('a name', fn(int $i) => ping('localhost:' . \substr(\strrchr($nobody, ':'), 1), ms(), $i), n: 5);

// the library tries another time until its own limit is over, whatever happened: a cancellation is thrown then
cancelled('executeCommand', fn() => ping($nobody, 2000, 100), fn() => ping('127.0.0.1:1', 100, 101), within: 4.0);

// values only
matrix('BSON', function (int $i): array {
    $bson = \MongoDB\BSON\fromPHP(['n' => $i, 'list' => [1, 2, ['x' => 'y']]]);
    return [\bin2hex($bson), \MongoDB\BSON\toJSON($bson)];
}, evidence: 'none');
