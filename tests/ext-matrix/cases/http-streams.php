<?php
// needs: peer
// HTTP by PHP's own stream wrappers.
namespace Matrix;

function verified(array $http = [])
{
    return \stream_context_create(['ssl' => ['cafile' => env('MATRIX_CERT')], 'http' => $http]);
}

matrix('file_get_contents http', fn(int $i) => \file_get_contents(http('/' . ms() . "/text$i")), n: 50);

matrix('file_get_contents https', fn(int $i) => \file_get_contents(https('/' . ms() . "/text$i"), false, verified()));

matrix('POST', function (int $i): array {
    $context = verified(['method' => 'POST', 'content' => $body = \str_repeat("body $i ", 20_000), 'header' => 'Content-Type: text/plain']);
    return [\file_get_contents(http('/' . ms()), false, $context) === $body, $http_response_header[0]];
});

matrix('fopen, fgets, chunked', function (int $i): array {
    $stream = \fopen(http('/chunked/' . ms(100) . "/a$i%0A/b$i%0A/c$i%0A/d$i%0A"), 'r', false, verified(['protocol_version' => 1.1]));
    $lines = [];
    while (($line = \fgets($stream)) !== false) {
        $lines[] = $line;
    }
    return [$lines, \feof($stream), \stream_get_meta_data($stream)['timed_out']];
}, ms: 400);

matrix('timeout', function (int $i): mixed {
    return @\file_get_contents(http('/10000/late'), false, verified(['timeout' => seconds()]));
});

matrix('copy to a file', function (int $i): string {
    \copy(http('/' . ms() . '/' . \str_repeat("copy$i", 5000)), $file = scratch('copy'));
    return \md5_file($file);
}, n: 10);

matrix('an untrusted certificate', function (int $i): mixed {
    return @\file_get_contents(https('/0/never'));
}, n: 5, evidence: 'switch');
