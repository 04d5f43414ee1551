--TEST--
Async\Http: files of folders come before the handler; what is no file goes to it; wrong arguments; open_basedir
--FILE--
<?php
require __DIR__ . '/server.inc';

use Async\Http\{Request, Server};

$folder = sys_get_temp_dir() . '/spindle-files-' . getmypid();
mkdir("$folder/public/sub", 0777, true);
file_put_contents("$folder/secret", 'secret');
file_put_contents("$folder/public/a.txt", 'the text');
file_put_contents("$folder/public/a.txt.gz", 'encoded');
file_put_contents("$folder/public/index.html", 'the index');
file_put_contents("$folder/public/home.html", 'the home');
file_put_contents("$folder/public/page.php", '<?php secret');
file_put_contents("$folder/public/.hidden", 'hidden');
symlink('../secret', "$folder/public/out");

register_shutdown_function(fn() => shell_exec('rm -r ' . escapeshellarg($folder)));

$serve = function(string $prefix, array $options = []) use ($folder) {
    $server = (new Server())->listen('127.0.0.1:0')->files($prefix, "$folder/public", $options);
    $server->handle(fn(Request $r) => "handler of {$r->method()} {$r->target()}");
    Async\spawn($server->run(...));
    return $server;
};
$server = $serve('/');
foreach (['/', '/a.txt', '/a.txt?x', '/sub', '/sub/', '/none', '/page.php', '/.hidden', '/out', '/../secret', '/%2e%2e%2fsecret'] as $path) {
    echo "$path: ", S\get($server, $path), "\n";
}
echo S\body(S\send($server, S\request('POST', '/a.txt', 'x'))), "\n";
echo S\get($server, '/a.txt', "Accept-Encoding: gzip\r\n"), "\n";
echo S\get($server, '/a.txt', "Range: bytes=4-\r\n"), "\n";
['files' => $files, 'requests' => $requests] = $server->stats();
echo "$files of $requests\n";
$server->stop();

$server = $serve('/static/', ['index' => 'home.html', 'cache_control' => 'max-age=9', 'precompressed' => false, 'dot_files' => true]);
foreach (['/static/', '/static/.hidden', '/a.txt', '/static/a.txt'] as $path) {
    echo "$path: ", S\get($server, $path, "Accept-Encoding: gzip\r\n"), "\n";
}
$answer = S\send($server, S\request('GET', '/static'));
preg_match('/^location: (.*?)\r/m', $answer, $to);
preg_match('/^cache-control: (.*?)\r/m', S\send($server, S\request('GET', '/static/a.txt')), $cache);
echo S\status($answer), " $to[1] $cache[1]\n";
$server->stop();
$server = $serve('/', ['index' => null]);
echo S\get($server, '/'), "\n";
$server->stop();

foreach ([['', '.'], ['static', '.'], ['//x', '.'], ['/', "$folder/none"], ['/', "$folder/secret"], ['/', "a\0b"], ['/', '.', ['x' => 1]],
    ['/', '.', ['index' => 'a/b']], ['/', '.', ['index' => 'index.php']], ['/', '.', ['index' => '..']], ['/', '.', ['index' => 1]],
    ['/', '.', ['cache_control' => "a\r\nb: c"]], ['/', '.', ['cache_control' => null]], ['/', '.', ['precompressed' => 1]]] as $arguments) {
    echo str_replace($folder, '', S\refused(fn() => (new Server())->files(...$arguments))), "\n";
}
ini_set('open_basedir', "$folder/public/sub");
echo str_replace($folder, '', S\refused(fn() => (new Server())->files('/', "$folder/public"))), "\n";
?>
--EXPECT--
/: the index
/a.txt: the text
/a.txt?x: the text
/sub: handler of GET /sub
/sub/: handler of GET /sub/
/none: handler of GET /none
/page.php: handler of GET /page.php
/.hidden: handler of GET /.hidden
/out: handler of GET /out
/../secret: handler of GET /../secret
/%2e%2e%2fsecret: handler of GET /%2e%2e%2fsecret
handler of POST /a.txt
encoded
text
5 of 14
/static/: the home
/static/.hidden: hidden
/a.txt: handler of GET /a.txt
/static/a.txt: the text
301 ./static/ max-age=9
handler of GET /
ValueError: Server::files(): Argument #1 ($prefix) must be the begin of a path, as "/assets"
ValueError: Server::files(): Argument #1 ($prefix) must be the begin of a path, as "/assets"
ValueError: Server::files(): Argument #1 ($prefix) must be the begin of a path, as "/assets"
Async\Http\ServerException: The folder /none cannot be opened: No such file or directory (os error 2)
Async\Http\ServerException: The folder /secret cannot be opened: Not a directory (os error 20)
ValueError: The name of a file has a zero in it
ValueError: There is no option "x"
ValueError: The option "index" must be null, or the name of a file that is not code of PHP
ValueError: The option "index" must be null, or the name of a file that is not code of PHP
ValueError: The option "index" must be null, or the name of a file that is not code of PHP
ValueError: The option "index" must be null, or the name of a file that is not code of PHP
ValueError: The option "cache_control" must be the value of a header
ValueError: The option "cache_control" must be the value of a header
ValueError: The option "precompressed" must be a bool
Async\Http\ServerException: The setting open_basedir does not allow the file /public
