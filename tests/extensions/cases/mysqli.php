<?php
// needs: mariadb peer
namespace Matrix;

$late = slowed(env('SPINDLE_MYSQL_PORT'));
$connect = static fn() => new \mysqli(env('SPINDLE_MYSQL_HOST'), env('SPINDLE_MYSQL_USER'), env('SPINDLE_MYSQL_PASSWORD'), env('SPINDLE_MYSQL_DB'), $late);
check('query', static fn($db, int $n) => $db->query("select concat('x$n')")->fetch_row(), $connect, in: 'mysqli::query');
check('query, unbuffered', static fn($db, int $n) => $db->query("select concat('x$n')", MYSQLI_USE_RESULT)->fetch_all(), $connect, apart: true, in: ['mysqli::query', 'mysqli_result::fetch_all']);
check('execute_query', static fn($db, int $n) => $db->execute_query('select concat(?)', texts("x$n"))->fetch_row(), $connect, in: 'mysqli::execute_query');
check('mysqli_query', static fn($db, int $n) => \mysqli_fetch_row(\mysqli_query($db, text("select 'x$n'"))), $connect, in: 'mysqli_query');
check('fetch_object', static fn($db, int $n) => (array) $db->query("select 'x$n' a")->fetch_object(Filled::class, [$n]), $connect, in: 'mysqli_result::fetch_object');
check('fetch_object, one result', static fn($r, int $n) => $r->fetch_object(Filled::class, [1])->a !== '', static fn() => $connect()->query("select 'x1' a union all select 'x2'"), in: 'mysqli_result::fetch_object');
check('a statement', static function ($s, int $n) { return $s->execute([text("x$n")]); }, static fn() => $connect()->prepare('select concat(?)'), apart: true, in: 'mysqli_stmt::execute');
check('bound references', static function ($db, int $n) { $s = $db->prepare('select ?'); $x = text("x$n"); $s->bind_param('s', $x); $s->execute(); return $s->get_result()->fetch_row(); }, $connect, apart: true, in: 'mysqli_stmt::execute');
check('exceptions', static fn($db, int $n) => $db->query("select nothing$n"), $connect, in: 'mysqli::query');
check('warnings', static function ($db, int $n) { \mysqli_report(MYSQLI_REPORT_ERROR); return noisily(fn() => $db->query("select nothing$n")); }, static function () use ($connect) { \mysqli_report(MYSQLI_REPORT_ERROR); return $connect(); }, in: 'mysqli::query');
\mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
check('real_escape_string', static fn($db, int $n) => $db->real_escape_string(text("it's $n")), $connect, in: 'mysqli::real_escape_string');
check('connecting', static fn($_, int $n) => $connect()->server_version > 0, in: ['mysqli::__construct']);
check('foreach', static function ($db, int $n) { foreach ($db->query("select repeat('x', 20000) from seq_1_to_50", MYSQLI_USE_RESULT) as $row) $all[] = \strlen($row['repeat(\'x\', 20000)']); return \array_sum($all); }, $connect, apart: true, anywhere: true);
check('LOAD DATA from a stream', static function ($db, int $n) { $db->options(MYSQLI_OPT_LOCAL_INFILE, true); return noisily(fn() => $db->query("load data local infile '/none$n' into table none$n")); }, $connect, in: 'mysqli::query');
final class Filled
{
    public mixed $a = null;
    public function __construct(public int $n) { pause(); }
    public function __set($name, $value) { pause(); }
}
