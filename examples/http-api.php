<?php

/**
 * A JSON API over PDO: notes that are listed, read, written, and deleted. Every request has a connection of its own while it
 * uses one; there are ten at most, whatever the number of requests.
 *
 *     php -d extension=build/spindle.so examples/http-api.php [127.0.0.1:8080]
 *
 *     curl -X POST http://127.0.0.1:8080/notes -d '["Buy milk", "Call Ada"]'
 *     curl http://127.0.0.1:8080/notes
 *
 * DB_DSN, DB_USER and DB_PASSWORD name the database. The default is a file of SQLite's in the folder for temporary files.
 */

declare(strict_types=1);

use Async\Http\{Request, Response, Server};
use Async\PooledPDO;
use function Async\{awaitAny, signal, spawn};

$db = new PooledPDO(
    getenv('DB_DSN') ?: 'sqlite:' . sys_get_temp_dir() . '/spindle-notes.db',
    getenv('DB_USER') ?: null,
    getenv('DB_PASSWORD') ?: null,
    max: 10,
);
$db->exec('create table if not exists notes (id varchar(32) primary key, text varchar(1000) not null)');

$server = new Server(['max_body_size' => 1 << 20]);
$server->listen($argv[1] ?? '127.0.0.1:8080');
$server->handle(fn(Request $request): Response => answer($db, $request));

/** The handlers are code as it is with one request at a time. What they throw answers 500. */
function answer(PDO $db, Request $request): Response
{
    $id = preg_match('~^/notes/(\w+)$~', $request->path(), $found) ? $found[1] : null;
    if ($id === null && $request->path() !== '/notes') {
        return Response::json(['error' => 'There is nothing here.'], 404);
    }
    return match ([$request->method(), $id !== null]) {
        ['GET', false] => Response::json($db->query('select id, text from notes order by id')->fetchAll(PDO::FETCH_ASSOC)),
        ['GET', true] => show($db, $id),
        ['POST', false] => add($db, $request),
        ['DELETE', true] => delete($db, $id),
        default => Response::json(['error' => 'That is not done here.'], 405)->header('Allow', $id === null ? 'GET, POST' : 'GET, DELETE'),
    };
}

function show(PDO $db, string $id): Response
{
    $statement = $db->prepare('select id, text from notes where id = ?');
    $statement->execute([$id]);
    $note = $statement->fetch(PDO::FETCH_ASSOC);
    return $note ? Response::json($note) : Response::json(['error' => 'There is no such note.'], 404);
}

/** All of them, or none. */
function add(PDO $db, Request $request): Response
{
    $texts = $request->json();
    if (!is_array($texts) || $texts !== array_filter($texts, fn($text) => is_string($text) && $text !== '' && strlen($text) <= 1000)) {
        return Response::json(['error' => 'A list of texts is expected.'], 422);
    }
    $db->beginTransaction();
    try {
        $statement = $db->prepare('insert into notes (id, text) values (?, ?)');
        $ids = [];
        foreach ($texts as $text) {
            $statement->execute([$ids[] = bin2hex(random_bytes(8)), $text]);
        }
        $db->commit();
    } catch (PDOException $e) {
        $db->rollBack();
        throw $e;
    }
    return Response::json(['ids' => $ids], 201);
}

function delete(PDO $db, string $id): Response
{
    $statement = $db->prepare('delete from notes where id = ?');
    $statement->execute([$id]);
    return $statement->rowCount() ? new Response('', 204) : Response::json(['error' => 'There is no such note.'], 404);
}

spawn(function () use ($server): void {
    awaitAny([signal(SIGINT), signal(SIGTERM)]);
    $server->stop(10);
});

echo "http://{$server->address()}/notes\n";
$server->run();
