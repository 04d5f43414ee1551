<?php
// needs: postgres ext:pdo_pgsql
// stock hangs: ENOMEM
namespace Matrix;

return ['work' => function (int $copy): array {
    $pdo = pdo_pgsql();
    $rows = $pdo->query("select n, repeat(n::text, 20) from generate_series(1, 400) n")->fetchAll(\PDO::FETCH_NUM);
    $one = $pdo->prepare('select ?::int + 1');
    $one->execute([$copy]);
    $wrong = null;
    try {
        $pdo->query('select 1/0');
    } catch (\PDOException $e) {
        $e->getCode() === '22012' or throw $e;
        $wrong = $e->getCode();
    }
    return [\count($rows), \md5(\serialize($rows)), $one->fetchColumn(), $wrong];
}];
