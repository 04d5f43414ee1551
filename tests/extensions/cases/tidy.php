<?php
namespace Matrix;

check('tidy::parseString', static fn($t, int $n) => [$t->parseString(text("<p>$n<b>"), ['output-xhtml' => true])], static fn() => new \tidy, in: 'tidy::parseString');
check('tidy_repair_string', static fn($_, int $n) => \strlen(\tidy_repair_string(text("<p>$n<b>"))), in: 'tidy_repair_string');
check('tidy::parseFile', static fn($t, int $n) => [$t->parseFile(slow("<p>$n<b>"))], static fn() => new \tidy, in: 'tidy::parseFile');
check('tidy, complaining', static fn($t, int $n) => noisily(fn() => $t->parseString("<p>$n", ['no-such-option' => 1])), static fn() => new \tidy, in: 'tidy::parseString');
