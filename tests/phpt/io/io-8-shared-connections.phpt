--TEST--
IO-8 one PDO handle, its statements, one cURL handle and one file handle used by many coroutines: each gets its own result
--EXTENSIONS--
curl
pdo_sqlite
--FILE--
<?php
use function Async\{spawn, suspend};

require __DIR__ . '/kit.inc';
$dir = T\work_in();

// cURL: the second coroutine's call on the busy handle waits its turn
[$server, $address] = T\listener();
$serving = spawn(function() use ($server) {
    while ($client = @stream_socket_accept($server, 600)) {
        $path = explode(' ', fgets($client))[1];
        while (trim(fgets($client)) !== '');
        T\turns(10);
        fwrite($client, "HTTP/1.0 200 OK\r\n\r\n$path");
        fclose($client);
    }
});
$curl = curl_init();
$fetch = function(string $path) use ($curl, $address) {
    $text = '';
    curl_setopt_array($curl, [CURLOPT_URL => str_replace('tcp', 'http', $address) . "/$path", CURLOPT_WRITEFUNCTION => function($c, $data) use (&$text) { $text .= $data; return strlen($data); }]);
    return [curl_exec($curl), $text, curl_errno($curl)];
};
$jobs = [];
for ($i = 0; $i < 6; $i++) $jobs[$i] = spawn($fetch, "path$i");
$results = T\all($jobs);
T\check('curl', array_unique(array_column($results, 0)) === [true] && array_sum(array_column($results, 2)) === 0, $results);
$serving->cancel();

// SQLite: transactions are the program's business, statements are not mixed
$pdo = new PDO("sqlite:$dir/db");
$pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$pdo->exec('pragma synchronous = full; create table t (who integer, n integer)');
$jobs = [];
for ($i = 0; $i < 8; $i++) {
    $jobs[] = spawn(function() use ($pdo, $i) {
        $insert = $pdo->prepare('insert into t values (?, ?)');
        for ($n = 0; $n < 20; $n++) {
            $insert->execute([$i, $n]);
            if ($n % 5 === 0) suspend();
        }
        $rows = $pdo->query("select n from t where who = $i order by n")->fetchAll(PDO::FETCH_COLUMN);
        return array_map('intval', $rows) === range(0, 19);
    });
}
var_dump(array_unique(T\all($jobs)), (int) $pdo->query('select count(*) from t')->fetchColumn());

// one file handle: appended lines stay whole
$log = fopen('log', 'a');
$jobs = [];
for ($i = 0; $i < 10; $i++) $jobs[] = spawn(function() use ($log, $i) { for ($n = 0; $n < 20; $n++) { fwrite($log, str_repeat("$i", 100) . "\n"); if ($n % 7 === 0) fflush($log); } });
T\all($jobs);
fclose($log);
$lines = array_count_values(file('log', FILE_IGNORE_NEW_LINES));
ksort($lines);
var_dump(count($lines), array_unique(array_values($lines)));
?>
--EXPECT--
curl: yes
array(1) {
  [0]=>
  bool(true)
}
int(160)
int(10)
array(1) {
  [0]=>
  int(20)
}
