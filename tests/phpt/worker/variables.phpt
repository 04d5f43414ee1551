--TEST--
Worker mode: what $_SERVER says of a request comes from it alone, not from the environment; headers that come twice, and targets
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';

$foreign = ['HTTPS', 'CONTENT_TYPE', 'CONTENT_LENGTH', 'HTTP_PROXY', 'HTTP_X_FORWARDED_FOR', 'REMOTE_USER', 'PATH_INFO', 'AUTH_TYPE', 'PHP_AUTH_USER'];
foreach ($foreign as $name) {
    putenv("$name=foreign");
}
putenv('OF_THE_PROCESS=yes');
$server = S\worker(function () use ($foreign) {
    $of = fn(string ...$names) => array_map(fn($name) => $_SERVER[$name] ?? null, $names);
    echo json_encode([
        array_values(array_filter($foreign, fn($name) => ($_SERVER[$name] ?? null) === 'foreign')), count(preg_grep('/^CONTENT_TYPE$/', array_keys($_SERVER))),
        $of('OF_THE_PROCESS', 'REQUEST_METHOD', 'REQUEST_URI', 'QUERY_STRING', 'CONTENT_TYPE', 'HTTP_X_N', 'HTTP_X_EMPTY', 'PHP_AUTH_USER', 'PHP_AUTH_PW'),
        $_GET, $_COOKIE,
    ], JSON_UNESCAPED_SLASHES);
});
echo S\answer($server, '/'), "\n", S\answer($server, '/a?'), "\n", S\answer($server, '/a%20b?x=1&y[]=?&y[]=%00'), "\n";
echo S\answer($server, '/', "Content-Type: text/plain\r\nX-N: 1\r\nX-Empty:\r\nCookie: a=1\r\n"), "\n";
echo S\answer($server, '/', "Cookie: a=1\r\nX-N: 1\r\nCookie: b=2; a=3\r\nX-N: 2\r\nCookie: c=4\r\nCookie: d=5\r\nAuthorization: Basic " . base64_encode('me:secret') . "\r\n"), "\n";
$many = implode('', array_map(fn($n) => "X-Header-$n: $n\r\n", range(1, 80)));
S\answer($server, '/', $many);
echo S\answer($server, '/?n=80', $many . "X-N: last\r\n"), "\n";

// Arrays that nobody has kept are freed with their request.
$used = function () use ($server): int {
    for ($n = 0; $n < 100; $n++) {
        S\answer($server, "/?n=$n", "Cookie: a=$n\r\n");
    }
    return memory_get_usage();
};
$used();
$before = $used();
var_dump(intdiv($used() - $before, 100) < 512);
$server->stop();
?>
--EXPECT--
200 [[],0,["yes","GET","/","",null,null,null,null,null],[],[]]
200 [[],0,["yes","GET","/a?","",null,null,null,null,null],[],[]]
200 [[],0,["yes","GET","/a%20b?x=1&y[]=?&y[]=%00","x=1&y[]=?&y[]=%00",null,null,null,null,null],{"x":"1","y":["?","\u0000"]},[]]
200 [[],1,["yes","GET","/","","text/plain","1","",null,null],[],{"a":"1"}]
200 [[],0,["yes","GET","/","",null,"1, 2",null,"me","secret"],[],{"a":"1","b":"2","c":"4","d":"5"}]
200 [[],0,["yes","GET","/?n=80","n=80",null,"last",null,null,null],{"n":"80"},[]]
bool(true)
