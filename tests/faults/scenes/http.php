<?php
// needs: peer ext:openssl
namespace Matrix;

return ['work' => function (int $copy): array {
    $options = ['http' => ['timeout' => 60], 'ssl' => ['cafile' => env('MATRIX_CERT')]];
    $body = \str_repeat("body $copy ", 10_000);
    $post = ['http' => ['method' => 'POST', 'header' => 'Content-Type: text/plain', 'content' => $body, 'timeout' => 60]];
    // Chunks come apart, also where the processor is busy: after a reset between two of them stock PHP tells of nothing.
    return [
        must(\file_get_contents(http("/5/get$copy"), context: \stream_context_create($options)), 'GET'),
        \md5(must(\file_get_contents(http('/5'), context: \stream_context_create($post)), 'POST')),
        must(\file_get_contents(http('/chunked/50/one/two'), context: \stream_context_create($options)), 'chunked'),
        must(\file_get_contents(https("/5/tls$copy"), context: \stream_context_create($options)), 'https'),
    ];
}];
