<?php
// needs: postgres mariadb redis peer ext:pdo_pgsql ext:pgsql ext:pdo_mysql ext:mysqli ext:pdo_sqlite ext:sqlite3 ext:redis ext:curl
// limit: 900
// Fifty coroutines, one handle, many calls (MATRIX_HAMMER of each kind): every answer is the right one. What a coroutine does
// between two waits of others is one call, or something with a statement or a cursor that it alone uses: what one after
// another could do on one connection, too.
namespace Matrix;

use Async;

const WORKERS = 50;

/** How often each of them asks. */
function calls(): int
{
    return is_async() ? \intdiv((int) (\getenv('MATRIX_HAMMER') ?: 5000), WORKERS) : 4;
}

/**
 * $setup($id) is called in each coroutine and returns what asks: a closure that is called with the number of the call and
 * returns [the right answer, the answer].
 */
function hammer(string $name, callable $setup, bool $waits = true): void
{
    Check::run($name, static function (Check $check) use ($setup, $waits): string {
        $inside = $most = $asked = 0;
        $wrong = [];
        $worker = static function (int $id) use ($setup, &$inside, &$most, &$asked, &$wrong): void {
            $ask = $setup($id);
            for ($n = 0; $n < calls(); $n++) {
                $most = \max($most, ++$inside);
                [$right, $answer] = $ask($n);
                $inside--;
                $asked++;
                $answer === $right or $wrong[] = \json_encode([$id, $n, $right, $answer], JSON_PARTIAL_OUTPUT_ON_ERROR);
            }
        };
        $start = \hrtime(true);
        if (is_async()) {
            together(WORKERS, $worker);
        } else {
            \array_map($worker, \range(0, WORKERS - 1));
        }
        $wall = (\hrtime(true) - $start) / 1e9;
        $check->facts = ['wall' => \round($wall, 3), 'calls' => $asked, 'a second' => (int) ($asked / $wall), 'at once' => $most];
        $wrong === [] or $check->problem(\count($wrong) . ' wrong answers, as [who, call, right, got]: ' . \implode(' ', \array_slice($wrong, 0, 5)));
        if (is_async() && $waits) {
            $most > WORKERS / 2 or $check->problem("switch: never more than $most of " . WORKERS . ' at once');
        }
        return 'done';
    });
}

$pgsql = pdo_pgsql();
$pgsql->exec('create temp table numbers as select n from generate_series(1, 100) n');
hammer('PDO-pgsql', fn(int $id) => fn(int $n) => match ($n % 3) {
    0 => ["$id.$n", $pgsql->query("select '$id.$n'")->fetchColumn()],
    1 => [$id, $pgsql->exec("update numbers set n = n where n <= $id")],
    2 => [[[$id, $n], [$id, $n + 1]], $pgsql->query("select $id, n from generate_series($n, $n + 1) n")->fetchAll(\PDO::FETCH_NUM)],
});
hammer('PDO-pgsql, statements', function (int $id) use ($pgsql): \Closure {
    $statement = $pgsql->prepare("select $id * 1000000 + cast(? as int)");
    return function (int $n) use ($statement, $id): array {
        $statement->execute([$n]);
        return [[$id * 1_000_000 + $n], $statement->fetchAll(\PDO::FETCH_COLUMN)];
    };
});
$pgsql->beginTransaction();
hammer('PDO-pgsql, cursors', function (int $id) use ($pgsql): \Closure {
    $pgsql->exec("declare c$id cursor for select $id * 1000000 + n from generate_series(0, " . calls() . ') n');
    return fn(int $n) => [$id * 1_000_000 + $n, $pgsql->query("fetch 1 from c$id")->fetchColumn()];
});
$pgsql->rollBack();

$pg = \pg_connect(env('SPINDLE_PG_CONNECT'), PGSQL_CONNECT_FORCE_NEW);
hammer('pg_query, pg_query_params, pg_execute', function (int $id) use ($pg): \Closure {
    \pg_prepare($pg, "hammer $id", "select $id, \$1::int");
    return fn(int $n) => [["$id", "$n"], \pg_fetch_row(match ($n % 3) {
        0 => \pg_query($pg, "select $id, $n"),
        1 => \pg_query_params($pg, 'select $1::int, $2::int', [$id, $n]),
        2 => \pg_execute($pg, "hammer $id", [$n]),
    })];
});

foreach (['emulated' => true, 'native' => false] as $how => $emulate) {
    $mysql = pdo_mysql([\PDO::ATTR_EMULATE_PREPARES => $emulate]);
    hammer("PDO-mysql, $how", function (int $id) use ($mysql): \Closure {
        $statement = $mysql->prepare("select $id * 1000000 + ?");
        return function (int $n) use ($mysql, $statement, $id): array {
            if ($n % 2) {
                return [[["$id.$n", $n]], $mysql->query("select '$id.$n', $n")->fetchAll(\PDO::FETCH_NUM)];
            }
            $statement->bindValue(1, $n, \PDO::PARAM_INT);
            $statement->execute();
            return [[$id * 1_000_000 + $n], $statement->fetchAll(\PDO::FETCH_COLUMN)];
        };
    });
}

$mysqli = mysqli();
hammer('mysqli', fn(int $id) => fn(int $n) => $n % 2
    ? [["$id", "$n"], $mysqli->query("select $id, $n")->fetch_row()]
    : [[$id, "$n"], $mysqli->execute_query("select $id, ?", [$n])->fetch_row()]);
hammer('mysqli, cursors of statements', function (int $id) use ($mysqli): \Closure {
    $statement = $mysqli->prepare("select $id * 1000000 + seq from seq_0_to_" . calls());
    $statement->attr_set(MYSQLI_STMT_ATTR_CURSOR_TYPE, MYSQLI_CURSOR_TYPE_READ_ONLY);
    $statement->execute();
    $statement->bind_result($number);
    return function (int $n) use ($statement, $id, &$number): array {
        $statement->fetch();
        return [$id * 1_000_000 + $n, $number];
    };
});

$pause = function (int $n): int {
    $n % 16 or \usleep(1);
    return $n;
};
$sqlite = new \PDO('sqlite:' . scratch('db'));
$sqlite->sqliteCreateFunction('pause', $pause);
$sqlite->exec('create table numbers (n int)');
hammer('PDO-sqlite', function (int $id) use ($sqlite): \Closure {
    $statement = $sqlite->prepare("select $id * 1000000 + pause(?)");
    return function (int $n) use ($sqlite, $statement, $id): array {
        switch ($n % 3) {
            case 0:
                return ["$id.$n", $sqlite->query("select '$id.' || pause($n)")->fetchColumn()];
            case 1:
                $statement->bindValue(1, $n, \PDO::PARAM_INT);
                $statement->execute();
                return [[$id * 1_000_000 + $n], $statement->fetchAll(\PDO::FETCH_COLUMN)];
            case 2:
                return [1, $n % 32 ? 1 : $sqlite->exec("insert into numbers values (pause($n))")];
        }
    };
});
$sqlite3 = new \SQLite3(scratch('db'));
$sqlite3->createFunction('pause', $pause);
hammer('SQLite3', function (int $id) use ($sqlite3): \Closure {
    $statement = $sqlite3->prepare("select $id as id, pause(:n) as n");
    return function (int $n) use ($sqlite3, $statement, $id): array {
        if ($n % 2) {
            return [['id' => $id, 'n' => $n], $sqlite3->querySingle("select $id as id, pause($n) as n", true)];
        }
        $statement->bindValue(':n', $n);
        $result = $statement->execute();
        $row = $result->fetchArray(SQLITE3_ASSOC);
        $result->finalize();
        return [['id' => $id, 'n' => $n], $row];
    };
});

$redis = redis();
$hash = unique('hash');
hammer('phpredis', fn(int $id) => fn(int $n) => match ($n % 4) {
    0 => ["$id.$n", $redis->echo("$id.$n")],
    1 => [intdiv($n, 4) + 1, $redis->hIncrBy($hash, "field $id", 1)],
    2 => [["$id", "$n"], $redis->eval('return ARGV', ["$id", "$n"])],
    3 => [intdiv($n, 4) + 1, (int) $redis->hGet($hash, "field $id")],
});

// all ask the same, and no answer is given twice
$curl = curl(http('/serial'));
$first = (int) \curl_exec($curl);
$seen = [];
hammer('a cURL handle', function () use ($curl, $first, &$seen): \Closure {
    $last = $first;
    return function () use ($curl, &$last, &$seen): array {
        $number = (int) \curl_exec($curl);
        $right = $number > $last && !isset($seen[$number]);
        $seen[$last = $number] = true;
        return [true, $right];
    };
});

// what one writes, and what one reads, are calls of their own: no line is torn, none is lost, none comes twice
foreach (['tcp', 'tls', 'unix'] as $transport) {
    $stream = line_client($transport);
    $open = [];
    // To ask and to read are two calls: who writes first may read second. So any answer is right that was asked for.
    hammer("a stream, $transport", function (int $id) use ($stream, &$open): \Closure {
        return function (int $n) use ($stream, $id, &$open): array {
            $line = \str_pad("$id.$n.", 10 + $n % 300, 'x') . "\n";
            $open[$line] = true;
            \fwrite($stream, "0 $line");
            $answer = \fgets($stream);
            $right = isset($open[$answer]);
            unset($open[$answer]);
            return [true, $right];
        };
    });
    with_coroutines("nothing is left over, $transport", function (Check $check) use (&$open): void {
        $open === [] or $check->problem(\count($open) . ' lines were never answered');
    });
}
