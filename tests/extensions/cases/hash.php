<?php
namespace Matrix;

check('hash_update_stream', static fn($context, int $n) => \hash_update_stream($context, slow_stream("text $n")), static fn() => \hash_init('sha256'), static fn($context) => \hash_final($context), in: 'hash_update_stream');
check('hash_update_file', static fn($context, int $n) => \hash_update_file($context, slow("text $n")), static fn() => \hash_init('sha256'), static fn($context) => \hash_final($context), in: 'hash_update_file');
check('hash_update', static fn($context, int $n) => \hash_update($context, text("text $n")), static fn() => \hash_init('xxh3'), static fn($context) => \hash_final($context), in: 'hash_update');
check('hash_update_stream, to the end', static fn($context, int $n) => $n === 1 ? \hash_update_stream($context->hash, $context->stream) : \hash_final($context->hash), static fn() => (object) ['hash' => \hash_init('md5'), 'stream' => slow_stream('some text')], in: 'hash_update_stream', follows: true);
check('hash_file', static fn($_, int $n) => \hash_file('crc32b', slow("text $n")), in: 'hash_file');
check('hash_hmac_file', static fn($_, int $n) => \hash_hmac_file('md5', slow("text $n"), text('key')), in: 'hash_hmac_file');
check('hash', static fn($_, int $n) => \hash(text('sha1'), text("text $n")), in: 'hash');
