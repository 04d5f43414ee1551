<?php
namespace Matrix;

check('oauth_urlencode', static fn($_, int $n) => \oauth_urlencode(text("a b$n")), in: 'oauth_urlencode');
check('oauth_get_sbs', static fn($_, int $n) => \oauth_get_sbs(text('GET'), text("http://h$n/"), ['a' => 'b']), in: 'oauth_get_sbs');
