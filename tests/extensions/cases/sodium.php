<?php
namespace Matrix;

check('sodium_crypto_generichash', static fn($_, int $n) => \bin2hex(\sodium_crypto_generichash(text("m$n"), text(''))), in: 'sodium_crypto_generichash');
check('sodium_crypto_secretbox', static fn($_, int $n) => \sodium_crypto_secretbox_open(text(\sodium_crypto_secretbox(text("m$n"), $nonce = \str_repeat('n', 24), $key = \str_repeat('k', 32))), $nonce, $key), in: ['sodium_crypto_secretbox', 'sodium_crypto_secretbox_open']);
check('sodium_crypto_generichash_update', static fn($s, int $n) => \sodium_crypto_generichash_update($s->state, text("m$n")), static fn() => (object) ['state' => \sodium_crypto_generichash_init()], static fn($s) => \bin2hex(\sodium_crypto_generichash_final($s->state)), in: 'sodium_crypto_generichash_update');
check('sodium_bin2base64', static fn($_, int $n) => \sodium_bin2base64(text("m$n"), SODIUM_BASE64_VARIANT_ORIGINAL), in: 'sodium_bin2base64');
check('sodium_pad', static fn($_, int $n) => \sodium_unpad(text(\sodium_pad(text("m$n"), 16)), 16), in: ['sodium_pad', 'sodium_unpad']);
check('sodium_memcmp', static fn($_, int $n) => \sodium_memcmp(text("m$n"), text('m1')), in: 'sodium_memcmp');
