<?php
// needs: mariadb redis peer ext:mysqli ext:pdo_mysql ext:pdo_sqlite ext:redis ext:curl
// limit: 600
// Twenty coroutines, one handle, and every now and then a cancellation for one of them, wherever it is: in a call, waiting for its
// turn, or in the cleanup of either. Whoever gets an answer gets the one to its own question, and the handle stays usable
// by its own means; a connection that its client gives up is replaced. (MATRIX_HAMMER calls, MATRIX_SEED)
namespace Matrix;

use Async;

const WORKERS = 20;

/** $make() makes the handle; $ask($handle, $question) answers the question, or throws, or gives false; $gone($handle): is it past using? */
function storm(string $name, callable $make, callable $ask, ?callable $gone = null): void
{
    with_coroutines($name, static function (Check $check) use ($make, $ask, $gone): void {
        $calls = (int) (\getenv('MATRIX_HAMMER') ?: 5000) / 2;
        $seed = (int) (\getenv('MATRIX_SEED') ?: \random_int(1, 1_000_000));
        \mt_srand($seed);
        $seen = ['right' => 0, 'failed' => 0, 'cancelled' => 0, 'replaced' => 0];
        $left = $calls;
        $handle = $make();
        $workers = [];
        for ($id = 0; $id < WORKERS; $id++) {
            $workers[] = Async\spawn(static function () use ($id, $ask, $check, &$handle, &$left, &$seen): void {
                $failed = false;
                while ($left-- > 0) {
                    $question = "$id.$left";
                    try {
                        $failed and Async\delay(3); // until there is a new handle
                        $failed = false;
                        $answer = @$ask($handle, $question);
                        $answer === $question || $answer === false || $answer === null
                            or $check->problem("$question was answered by " . \json_encode($answer));
                        $seen[$answer === $question ? 'right' : 'failed']++;
                    } catch (Async\CancellationException) {
                        $seen['cancelled']++;
                    } catch (\Exception) {
                        $seen['failed']++;
                        $failed = true;
                    }
                }
            });
        }
        while ($left > 0) {
            Async\delay(\mt_rand(1, 3));
            $workers[\mt_rand(0, WORKERS - 1)]->cancel();
            if ($gone !== null && $gone($handle)) {
                $handle = $make();
                $seen['replaced']++;
            }
        }
        foreach ($workers as $worker) {
            try {
                finished($worker);
            } catch (Async\CancellationException) { // it came after the last call
            }
        }
        $check->facts = ['seed' => $seed] + $seen;
        $check->warnings = [];
        $seen['right'] > $calls / 10 or $check->problem("only {$seen['right']} of $calls were answered");
        $seen['cancelled'] > 5 or $check->problem("only {$seen['cancelled']} were cancelled");
    });
}

storm('phpredis', redis(...), fn($redis, string $question) => $redis->echo($question));
storm('cURL', fn() => curl('http://127.0.0.1/'), function (\CurlHandle $curl, string $question): string|bool {
    // one call: a copy of the shared handle asks, and its connections are its own
    $copy = \curl_copy_handle($curl);
    \curl_setopt($copy, CURLOPT_URL, http("/1/$question"));
    return \curl_exec($copy);
});
storm('PDO-sqlite', function (): \PDO {
    $db = new \PDO('sqlite:' . scratch('db'));
    $db->sqliteCreateFunction('pause', function (string $word): string {
        \usleep(100);
        return $word;
    });
    return $db;
}, fn($db, string $question) => $db->query("select pause('$question')")->fetchColumn());

// a connection of MySQL's that lost an answer fails from then on
$lost = new \WeakMap;
$told = fn(callable $ask) => function ($db, string $question) use ($ask, $lost): mixed {
    try {
        return $ask($db, $question);
    } catch (\PDOException | \mysqli_sql_exception $e) {
        $lost[$db] = true;
        throw $e;
    }
};
$gone = fn($db) => isset($lost[$db]);
storm('mysqli', mysqli(...), $told(fn($db, string $question) => $db->query("select '$question', sleep(0.0005)")->fetch_row()[0]), $gone);
storm('PDO-mysql', pdo_mysql(...), $told(fn($db, string $question) => $db->query("select '$question', sleep(0.0005)")->fetchAll(\PDO::FETCH_COLUMN)[0]), $gone);
