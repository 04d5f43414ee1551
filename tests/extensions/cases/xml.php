<?php
namespace Matrix;

$parser = static function () {
    $seen = new \ArrayObject;
    $parser = \xml_parser_create();
    \xml_set_element_handler($parser, static function ($p, $name, $attributes) use ($seen) { pause(); $seen[] = "<$name" . \implode(',', $attributes); }, static function ($p, $name) use ($seen) { pause(); $seen[] = ">$name"; });
    \xml_set_character_data_handler($parser, static function ($p, $data) use ($seen) { pause(); $seen[] = $data; });
    return [$parser, $seen];
};
check('xml_parse', static fn($p, int $n) => [\xml_parse($p[0], "<r><a x='$n'>text $n</a></r>", true)], $parser, static fn($p) => [$p[1], \xml_get_current_line_number($p[0])], in: 'xml_parse');
check('xml_parse, in parts', static fn($p, int $n) => \xml_parse($p[0], [1 => '<r>text ', 2 => '<r>text '][$n], false), $parser, static fn($p) => $p[1], in: 'xml_parse');
check('xml_parse_into_struct', static function ($p, int $n) { $ok = \xml_parse_into_struct($p[0], "<r><a x='$n'>text $n</a></r>", $values, $index); return [$ok, $ok ? $values : 0]; }, $parser, static fn($p) => $p[1], in: 'xml_parse_into_struct');
check('xml_set_object', static function ($p, int $n) {
    $object = new class { public array $all = []; function start($p, $name) { pause(); $this->all[] = $name; } function end() { pause(); } };
    $parser = \xml_parser_create_ns(text('UTF-8'), text('|'));
    \xml_set_object($parser, $object);
    \xml_set_element_handler($parser, 'start', 'end');
    return [\xml_parse($parser, "<r$n/>", true), $object->all];
}, in: 'xml_parse');
check('xml_set_external_entity_ref_handler', static function ($_, int $n) {
    $parser = \xml_parser_create();
    $seen = [];
    \xml_set_external_entity_ref_handler($parser, static function ($p, ...$all) use (&$seen) { pause(); $seen[] = $all; return true; });
    return [\xml_parse($parser, "<!DOCTYPE r [<!ENTITY e SYSTEM 'x$n'>]><r>&e;</r>", true), $seen];
}, in: 'xml_parse');
check('xml_parser_set_option', static fn($p, int $n) => noisily(fn() => \xml_parser_set_option($p[0], XML_OPTION_TARGET_ENCODING, text("none$n"))), $parser, in: 'xml_parser_set_option');
