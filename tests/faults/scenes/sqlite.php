<?php
// needs: ext:pdo_sqlite
namespace Matrix;

return ['work' => function (int $copy): array {
    $db = new \PDO('sqlite:' . scratch("sqlite$copy"));
    $db->exec('create table t (n integer primary key, text text)');
    $db->beginTransaction();
    $insert = $db->prepare('insert into t values (?, ?)');
    for ($n = 0; $n < 300; $n++) {
        $insert->execute([$n, \str_repeat("text $n ", 20)]);
    }
    $db->commit();
    $db->exec('update t set text = text || text where n % 3 = 0');
    $rows = $db->query('select * from t order by n')->fetchAll(\PDO::FETCH_NUM);
    $check = $db->query('pragma integrity_check')->fetchColumn();
    return [\count($rows), \md5(\serialize($rows)), $check];
}];
