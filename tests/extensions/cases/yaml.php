<?php
namespace Matrix;

check('yaml_parse', static function ($_, int $n) { return \yaml_parse("- !mine a$n\n- !mine b\n- {x: !mine c}\n", 0, $docs, ['!mine' => static function ($value) { pause(); return "<$value>"; }]); }, in: 'yaml_parse');
check('yaml_parse_url', static fn($_, int $n) => \yaml_parse_url(slow("- a$n\n- b\n")), in: 'yaml_parse_url');
check('yaml_emit', static fn($_, int $n) => \yaml_emit([new \ArrayObject([$n]), 'x'], YAML_UTF8_ENCODING, YAML_LN_BREAK, ['ArrayObject' => static function ($o) { pause(); return ['tag' => '!o', 'data' => \count($o)]; }]), in: 'yaml_emit');
check('yaml_parse, complaining', static fn($_, int $n) => noisily(fn() => \yaml_parse("a: [$n")), in: 'yaml_parse');
