--TEST--
Worker mode: where the script is, as behind nginx: what the process says of it, and what a path has behind it
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';

$folder = sys_get_temp_dir() . '/spindle-' . bin2hex(random_bytes(4));
mkdir("$folder/public/in", recursive: true);
file_put_contents("$folder/public/in/app.php", '');
$names = ['SCRIPT_FILENAME', 'DOCUMENT_ROOT', 'SCRIPT_NAME', 'PHP_SELF', 'DOCUMENT_URI', 'PATH_INFO', 'CONTENT_TYPE'];
$show = fn(string $target) => str_replace($folder, '', S\answer($GLOBALS['server'], $target));
$serve = fn() => S\worker(function () use ($names) {
    echo json_encode(array_map(fn($name) => $_SERVER[$name] ?? null, $names), JSON_UNESCAPED_SLASHES);
});
// What it is by itself: the script that PHP runs.
$server = $serve();
$name = basename(__FILE__);
var_dump($show('/') === '200 ' . json_encode([__FILE__, __DIR__, "/$name", "/$name", "/$name", null, null], JSON_UNESCAPED_SLASHES));
$server->stop();

$_SERVER['SCRIPT_FILENAME'] = "$folder/public/in/app.php";
$server = $serve();
echo $show('/'), "\n";
$server->stop();

$_SERVER['DOCUMENT_ROOT'] = "$folder/public/";
$server = $serve();
foreach (['/', '/in/app.php', '/in/app.php?a=/b', '/in/app.php/', '/in/app.php/a%2Fb%20c+d', '/in/app.php//a/./b/../c', '/in/app.php/..', '/in/app.php/../../../x', '/in/app.phpx/a', '/other/a', '/in/app.php/%', '/in/app.php/%4'] as $target) {
    echo $target, ' ', implode(' ', array_slice(json_decode(substr($show($target), 4)), 2, 4)), "\n";
}
$server->stop();

// Another folder is none of the script's.
mkdir("$folder/files");
$_SERVER['DOCUMENT_ROOT'] = "$folder/files";
$server = $serve();
echo $show('/'), "\n";
$server->stop();
exec('rm -r ' . escapeshellarg($folder));
?>
--EXPECT--
bool(true)
200 ["/public/in/app.php","/public/in","/app.php","/app.php","/app.php",null,null]
/ /in/app.php /in/app.php /in/app.php 
/in/app.php /in/app.php /in/app.php /in/app.php 
/in/app.php?a=/b /in/app.php /in/app.php /in/app.php 
/in/app.php/ /in/app.php /in/app.php/ /in/app.php/ /
/in/app.php/a%2Fb%20c+d /in/app.php /in/app.php/a/b c+d /in/app.php/a/b c+d /a/b c+d
/in/app.php//a/./b/../c /in/app.php /in/app.php/a/c /in/app.php/a/c /a/c
/in/app.php/.. /in/app.php /in/app.php /in/app.php 
/in/app.php/../../../x /in/app.php /in/app.php /in/app.php 
/in/app.phpx/a /in/app.php /in/app.php /in/app.php 
/other/a /in/app.php /in/app.php /in/app.php 
/in/app.php/% /in/app.php /in/app.php/% /in/app.php/% /%
/in/app.php/%4 /in/app.php /in/app.php/%4 /in/app.php/%4 /%4
200 ["/public/in/app.php","/files","/app.php","/app.php","/app.php",null,null]
