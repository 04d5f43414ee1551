--TEST--
What extensions remember of one request in worker mode is not found in the next one, nor in another that runs meanwhile
--EXTENSIONS--
session
zlib
--INI--
error_reporting=24575
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';
use function Async\{spawn, await};

ini_set('session.save_path', T\work_in());
ini_set('session.use_only_cookies', 0);
$server = S\worker(function () {
    switch ($_GET['how'] ?? '') {
        case 'session':
            session_start();
            $before = SID;
            usleep(1000);
            session_write_close();
            usleep(1000);
            echo json_encode([$before === 'PHPSESSID=' . session_id(), SID === $before]);
            break;
        case 'sid':
            echo json_encode(defined('SID') ? SID : null);
            break;
        case 'coding':
            ob_start('ob_gzhandler');
            echo 'text ';
            ob_flush();
            usleep(1000);
            echo 'text';
            break;
    }
});
$get = fn(string $how, string $headers = '') => spawn(fn() => S\send($server, S\request('GET', "/?how=$how", '', $headers)));
echo S\body(await($get('sid'))), "\n";
echo S\body(await($get('session'))), "\n";
echo S\body(await($get('sid'))), "\n";
$both = [$get('session'), $get('sid'), $get('session', "Cookie: PHPSESSID=abc\r\n"), $get('session')];
foreach ($both as $answer) echo S\body(await($answer)), "\n";
echo json_encode(SID), "\n";

$gzip = "Accept-Encoding: gzip\r\n";
$show = function (string $answer) {
    $body = S\body($answer);
    $is_zipped = str_starts_with($body, "\x1f\x8b");
    echo $is_zipped ? 'gzip ' . gzdecode($body) : $body, stripos($answer, "\r\ncontent-encoding: gzip") ? ' as gzip' : '', "\n";
};
foreach (['', $gzip, '', $gzip] as $headers) $show(await($get('coding', $headers)));
foreach (array_map(fn($headers) => $get('coding', $headers), ['', $gzip, '', $gzip]) as $answer) $show(await($answer));
$server->stop();
?>
--EXPECT--
null
[true,true]
""
[true,true]
""
[false,true]
[true,true]
""
text text
gzip text text as gzip
text text
gzip text text as gzip
text text
gzip text text as gzip
text text
gzip text text as gzip
