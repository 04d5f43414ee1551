<?php
// needs: postgres ext:pdo_pgsql
// A stream of a large object is one more handle on its PDO's connection.
namespace Matrix;

use Async;

with_coroutines('a large object beside queries on one connection', function (Check $check): void {
    $content = \str_repeat('0123456789', 100_000);
    for ($round = 0; $round < 3; $round++) {
        $db = pdo_pgsql();
        $db->beginTransaction();
        $stream = $db->pgsqlLOBOpen($db->pgsqlLOBCreate(), 'w');
        \fwrite($stream, $content);
        \rewind($stream);
        $reader = Async\spawn(function () use ($stream): string {
            $all = '';
            while ((string) ($part = \fread($stream, 8192)) !== '') {
                $all .= $part;
            }
            return $all;
        });
        $queries = Async\spawn(function () use ($db): array {
            for ($n = 0; $n < 100; $n++) {
                $answers[] = $db->query("select $n")->fetchColumn();
            }
            return $answers;
        });
        try {
            Async\await($queries, Async\timeout(2000)) === \range(0, 99) or $check->problem('the queries got other answers');
            Async\await($reader, Async\timeout(2000)) === $content or $check->problem('the stream has another content');
        } catch (Async\AwaitCancelledException) {
            $check->problem('they wait for each other');
        } catch (\PDOException $e) {
            $check->problem(describe($e));
        }
        foreach ([$reader, $queries] as $coroutine) {
            $coroutine->cancel();
            try {
                finished($coroutine);
            } catch (\Throwable) {
            }
        }
    }
});
