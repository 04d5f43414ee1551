<?php
// needs: mariadb ext:mysqli
namespace Matrix;

return ['work' => function (int $copy): array {
    $db = mysqli();
    $rows = $db->query("select seq, repeat(seq, 20) from seq_1_to_400")->fetch_all();
    $one = $db->prepare('select ? + 1');
    $one->bind_param('i', $copy);
    $one->execute();
    $sum = $one->get_result()->fetch_row()[0];
    $wrong = null;
    try {
        $db->query('select * from nowhere_at_all');
    } catch (\mysqli_sql_exception $e) {
        $e->getCode() === 1146 or throw $e;
        $wrong = $e->getCode();
    }
    return [\count($rows), \md5(\serialize($rows)), $sum, $wrong];
}];
