--TEST--
Worker mode: a function of PHP-FPM that a library has declared before stays the library's
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/worker/worker.inc';

if (!function_exists('getallheaders')) {
    function getallheaders() { return ['of the library']; }
}
$server = S\worker(function () {
    echo json_encode([getallheaders(), array_keys(apache_request_headers())]);
});
echo S\answer($server, '/'), "\n";
$server->stop();
?>
--EXPECT--
200 [["of the library"],["Host","Connection"]]
