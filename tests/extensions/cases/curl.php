<?php
// needs: peer
namespace Matrix;

$url = static fn(string $path) => 'http://127.0.0.1:' . \getenv('MATRIX_HTTP_PORT') . $path;
$handle = static function (array $options = []) { $c = \curl_init(); \curl_setopt_array($c, $options + [CURLOPT_RETURNTRANSFER => true]); return $c; };
check('curl_exec', static function ($c, int $n) use ($url) { \curl_setopt($c, CURLOPT_URL, $url("/50/text$n")); return \strlen(\curl_exec($c)); }, $handle, in: 'curl_exec');
check('a write function', static fn($c, int $n) => \curl_exec($c), static function () use ($url, $handle) { $seen = new \ArrayObject; $c = $handle([CURLOPT_URL => $url('/chunked/1/aaa/bbb/ccc'), CURLOPT_WRITEFUNCTION => static function ($c, $data) use ($seen) { pause(); $seen[] = \strlen($data); return \strlen($data); }]); return $c; }, in: 'curl_exec');
check('a header function', static function ($_, int $n) use ($url, $handle) { $seen = []; $c = $handle([CURLOPT_URL => $url("/1/text$n"), CURLOPT_HEADERFUNCTION => static function ($c, $line) use (&$seen) { pause(); $seen[] = \strtok($line, ':'); return \strlen($line); }]); return [\curl_exec($c), \count($seen) > 2]; }, in: 'curl_exec');
check('a read function', static function ($_, int $n) use ($url, $handle) { $parts = ["part $n", 'more', '']; return \curl_exec($handle([CURLOPT_URL => $url('/1'), CURLOPT_UPLOAD => true, CURLOPT_INFILESIZE => 10, CURLOPT_READFUNCTION => static function () use (&$parts) { pause(); return \array_shift($parts); }])); }, in: 'curl_exec');
check('a progress function', static function ($_, int $n) use ($url, $handle) { return \curl_exec($handle([CURLOPT_URL => $url("/1/text$n"), CURLOPT_NOPROGRESS => false, CURLOPT_XFERINFOFUNCTION => static function () { pause(); return 0; }])); }, in: 'curl_exec');
check('to a stream', static function ($_, int $n) use ($url) { $c = \curl_init($url("/1/text$n")); \curl_setopt($c, CURLOPT_FILE, $f = \fopen($to = slow(''), 'w')); return noisily(fn() => [\curl_exec($c), \fclose($f), written($to)]); }, anywhere: true);
check('to the output', static fn($_, int $n) => printed(static fn() => \curl_exec(\curl_init($url("/1/text$n")))), in: 'curl_exec');
check('a form', static fn($_, int $n) => \curl_setopt(\curl_init(), CURLOPT_POSTFIELDS, ['a' => text("x$n"), 'b' => text('y')]), in: 'curl_setopt');
check('headers', static fn($c, int $n) => \curl_setopt_array($c, [CURLOPT_HTTPHEADER => texts("X-A: $n", 'X-B: y'), CURLOPT_USERAGENT => text("x$n")]), $handle, in: 'curl_setopt_array');
check('curl_multi_exec', static function ($_, int $n) use ($url, $handle) {
    $m = \curl_multi_init();
    $c = $handle([CURLOPT_URL => $url("/20/text$n"), CURLOPT_WRITEFUNCTION => static function ($c, $data) use (&$all) { pause(); $all .= $data; return \strlen($data); }]);
    \curl_multi_add_handle($m, $c);
    do { \curl_multi_exec($m, $running); $running and \curl_multi_select($m, 1); } while ($running);
    return $all;
}, in: ['curl_multi_exec', 'curl_multi_select']);
check('a shared cache', static function ($share, int $n) use ($url, $handle) { $c = $handle([CURLOPT_URL => $url("/20/text$n"), CURLOPT_SHARE => $share]); return \curl_exec($c); }, static function () { $s = \curl_share_init(); \curl_share_setopt($s, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS); \curl_share_setopt($s, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT); return $s; }, in: 'curl_exec');
check('curl_setopt, complaining', static fn($c, int $n) => noisily(fn() => \curl_setopt($c, CURLOPT_SSL_VERIFYHOST, 1)), $handle, in: 'curl_setopt');
check('curl_escape', static fn($c, int $n) => \curl_escape($c, text("a b$n")), $handle, in: 'curl_escape');
