<?php
namespace Matrix;

$load = static fn() => \simplexml_load_string('<r><a>1</a><a>2</a></r>');
check('simplexml_load_file', static fn($_, int $n) => (string) \simplexml_load_file(slow("<r>$n<a/></r>")), in: 'simplexml_load_file');
check('simplexml_load_string, complaining', static fn($_, int $n) => noisily(fn() => \simplexml_load_string("<r$n><a$n></r$n>")), in: 'simplexml_load_string');
check('simplexml_load_string, of a class', static fn($_, int $n) => \is_object(\simplexml_load_string("<r>$n</r>", on_demand(is: 'extends SimpleXMLElement'))), in: 'simplexml_load_string');
check('SimpleXMLElement::asXML', static fn($x, int $n) => [$x->asXML($to = slow('')), written($to)], $load, in: 'SimpleXMLElement::asXML');
check('SimpleXMLElement::addChild', static fn($x, int $n) => (string) $x->addChild(text("c$n"), text("v$n")), $load, static fn($x) => $x->count(), in: 'SimpleXMLElement::addChild');
check('SimpleXMLElement::xpath', static fn($x, int $n) => \array_map(strval(...), $x->xpath(text("a[$n]"))), $load, in: 'SimpleXMLElement::xpath');
check('SimpleXMLElement::xpath, complaining', static fn($x, int $n) => noisily(fn() => $x->xpath("a[$n")), $load, in: 'SimpleXMLElement::xpath');
check('SimpleXMLElement::__construct', static fn($_, int $n) => (string) new \SimpleXMLElement(slow("<r>$n</r>"), 0, true), in: 'SimpleXMLElement::__construct');
check('a property', static fn($x, int $n) => noisily(static function () use ($x, $n) { $x->none[5]->b = "v$n"; return (string) $x->a[0]; }), $load, anywhere: true);
