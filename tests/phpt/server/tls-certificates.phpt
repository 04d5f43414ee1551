--TEST--
Async\Http: certificates are replaced while connections are open; wrong files, options and objects are refused in one line
--EXTENSIONS--
openssl
--FILE--
<?php
require __DIR__ . '/server.inc';
require __DIR__ . '/tls.inc';

use Async\Http\{Request, Server, Tls};

$folder = T\work_in();
ob_start(fn(string $text) => str_replace($folder, '', $text));
L\certificate('one', 'one.example');
L\certificate('two', 'two.example');

echo "--- reload\n";
$tls = new Tls('one.pem', 'one.key');
$waits = new ArrayObject;
$server = L\serve($tls, function(Request $r) use ($waits) {
    if ($r->path() === '/wait') { $waits[] = $wait = new Async\FutureState; Async\await(new Async\Future($wait)); }
    return "served {$r->path()}";
});
$server->listen('127.0.0.1:0', $tls);
$first = L\got($server, 'one.example');
$old = L\connect($server, 'one.pem', 'one.example');
fwrite($old, "GET /wait HTTP/1.1\r\nHost: one.example\r\n\r\n");
T\until(fn() => count($waits) === 1);
L\certificate('one', 'one.example');
var_dump(L\got($server, 'one.example') === $first);
$tls->reload();
$second = L\got($server, 'one.example');
var_dump($second !== $first);
$waits[0]->complete(null);
echo S\body(L\send($old, S\request('GET', '/other'))) !== '' ? "the old connection is served\n" : "it is not\n";
file_put_contents('one.key', 'nothing');
chdir('/');
echo S\refused(fn() => $tls->reload()), "\n";
chdir($folder);
var_dump(L\got($server, 'one.example') === $second);
echo S\refused(fn() => $tls->add('two.pem', 'one.pem')), "\n";
L\certificate('one', 'one.example');
var_dump($tls->add('two.pem', 'two.key') === $tls, explode(' ', L\got($server, 'two.example'))[0], L\got($server, 'one.example') === $second);
$server->stop();

echo "--- wrong files\n";
foreach ([['none.pem', 'one.key'], ['one.pem', 'none.key'], ['one.pem', 'two.key'], ['one.key', 'one.key'], ['/', 'one.key'], ["a\0b", 'one.key']] as $files) {
    echo S\refused(fn() => new Tls(...$files)), "\n";
}
echo "--- wrong options and arguments\n";
foreach ([['min_version' => '1.1'], ['min_version' => 1.3], ['ciphers' => 'all'], [1]] as $options) {
    echo S\refused(fn() => new Tls('one.pem', 'one.key', $options)), "\n";
}
new Tls('one.pem', 'one.key', ['min_version' => '1.3']);
echo S\refused(fn() => (new Server)->listen('127.0.0.1:0', 'one.pem')), "\n";
echo S\refused(fn() => (new Server)->listen('127.0.0.1:0', new Server)), "\n";
echo S\refused(fn() => new Tls('one.pem')), "\n";
echo "--- wrong objects\n";
echo S\refused(fn() => $tls->__construct('one.pem', 'one.key')), "\n";
echo S\refused(fn() => clone $tls), "\n";
echo S\refused(fn() => serialize($tls)), "\n";
echo S\refused(fn() => unserialize('O:14:"Async\Http\Tls":0:{}')), "\n";
echo S\refused(function() use ($tls) { $tls->a = 1; }), "\n";
echo "--- open_basedir\n";
ini_set('open_basedir', sys_get_temp_dir());
foreach (["$folder/one.pem", '/etc/passwd', "$folder/../../../../../../../../etc/passwd"] as $file) {
    echo str_replace('/..', '', S\refused(fn() => new Tls($file, 'one.key'))), "\n";
}
?>
--EXPECT--
--- reload
bool(true)
bool(true)
the old connection is served
Async\Http\ServerException: There is no key in /one.key
bool(true)
Async\Http\ServerException: There is no key in /one.pem
bool(true)
string(3) "two"
bool(true)
--- wrong files
Async\Http\ServerException: The certificate /none.pem cannot be read: No such file or directory (os error 2)
Async\Http\ServerException: The key /none.key cannot be read: No such file or directory (os error 2)
Async\Http\ServerException: The key in /two.key is not that of the first certificate in /one.pem
Async\Http\ServerException: There is no certificate in /one.key
Async\Http\ServerException: The certificate / cannot be read: Is a directory (os error 21)
ValueError: The name of a file has a zero in it
--- wrong options and arguments
ValueError: The option "min_version" must be "1.2" or "1.3"
ValueError: The option "min_version" must be "1.2" or "1.3"
ValueError: There is no option "ciphers"
ValueError: There is no option ""
TypeError: Async\Http\Server::listen(): Argument #2 ($tls) must be of type ?Async\Http\Tls, string given
TypeError: Async\Http\Server::listen(): Argument #2 ($tls) must be of type ?Async\Http\Tls, Async\Http\Server given
ArgumentCountError: Async\Http\Tls::__construct() expects at least 2 arguments, 1 given
--- wrong objects
Async\Http\ServerException: The Tls object is constructed already
Error: Trying to clone an uncloneable object of class Async\Http\Tls
Exception: Serialization of 'Async\Http\Tls' is not allowed
Exception: Unserialization of 'Async\Http\Tls' is not allowed
Error: Cannot create dynamic property Async\Http\Tls::$a
--- open_basedir
nothing thrown
Async\Http\ServerException: The setting open_basedir does not allow the file /etc/passwd
Async\Http\ServerException: The setting open_basedir does not allow the file /etc/passwd
