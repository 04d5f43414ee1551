--TEST--
Worker mode: functions that PHP-FPM has exist in requests, and nowhere else; getenv() finds variables of the request
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';

$names = ['getallheaders', 'apache_request_headers', 'fastcgi_finish_request'];
$exist = fn(): string => implode(' ', array_map(fn($name) => json_encode(function_exists($name)), $names));
echo $exist(), "\n";
// Compiled before they exist.
$all = fn() => getallheaders();
$server = S\worker(function () use ($exist, $all) {
    if (isset($_GET['finish'])) {
        echo 'sent';
        $GLOBALS['finished'] = [fastcgi_finish_request(), fastcgi_finish_request()];
        echo 'not sent';
        return;
    }
    echo json_encode([
        $exist(), $all(), apache_request_headers() === $all(), eval('return count(getallheaders());'),
        getenv('REQUEST_METHOD'), getenv('HTTP_X_N'), getenv('HTTP_X_NONE'), getenv('OF_THE_PROCESS'), getenv('HTTP_PROXY'), getenv('DOCUMENT_ROOT') === $_SERVER['DOCUMENT_ROOT'],
    ]), "\n";
});
putenv('OF_THE_PROCESS=before');
echo S\answer($server, '/', "X-N: 1\r\nX_N: 2\r\nX.N: 3\r\nProxy: there\r\nX-Two-Words: 4\r\nContent-Type: text/plain\r\n"), "\n";
putenv('OF_THE_PROCESS=after');
putenv('HTTP_X_N=of the process');
echo S\answer($server, '/', "X-N: 1\r\n"), "\n";
putenv('OF_THE_PROCESS');
echo S\answer($server, '/'), "\n";
echo S\answer($server, '/?finish'), ' ', json_encode($finished), "\n";

// Outside of requests they are as with the command line alone, but for a look at whether they exist.
foreach (['getallheaders', 'apache_request_headers', 'fastcgi_finish_request'] as $name) {
    echo S\refused($name(...)), "\n";
}
var_dump(getenv('REQUEST_URI'));
$server->stop();
?>
--EXPECT--
false false false
200 ["true true true",{"Host":"test","Connection":"close","X-N":"1","X-Two-Words":"4","Content-Type":"text\/plain","Proxy":"there"},true,6,"GET","1",false,"before",false,true]
200 ["true true true",{"Host":"test","Connection":"close","X-N":"1"},true,3,"GET","1",false,"after",false,true]
200 ["true true true",{"Host":"test","Connection":"close"},true,2,"GET","of the process",false,false,false,true]
200 sent [true,false]
Error: Call to undefined function getallheaders()
Error: Call to undefined function apache_request_headers()
Error: Call to undefined function fastcgi_finish_request()
bool(false)
