<?php
namespace Matrix;

$xml = static fn(int|string $n) => "<?xml version=\"1.0\"?>\n<!DOCTYPE r [<!ELEMENT r (a*)><!ELEMENT a (#PCDATA)>]>\n<r><a>one $n</a><a>two $n</a></r>\n";
$document = static function (int|string $n = 0) use ($xml): \DOMDocument { $d = new \DOMDocument; $d->loadXML($xml($n)); return $d; };
check('DOMDocument::load', static fn($d, int $n) => [$d->load(slow($xml($n)))], static fn() => new \DOMDocument, static fn($d) => $d->textContent, in: 'DOMDocument::load');
check('DOMDocument::loadHTMLFile', static fn($_, int $n) => noisily(static function () use ($n) { $d = new \DOMDocument; $d->loadHTMLFile(slow("<p>one $n<b></p></i>two")); return $d->textContent; }), in: 'DOMDocument::loadHTMLFile');
check('DOMDocument::loadXML, complaining', static fn($_, int $n) => \preg_replace('/ in Entity.*/', '', noisily(fn() => (new \DOMDocument)->loadXML("<r$n><a$n></r$n>"))[1]), in: 'DOMDocument::loadXML');
check('DOMDocument::loadHTML, complaining', static fn($_, int $n) => noisily(fn() => (new \DOMDocument)->loadHTML("<p><no$n>&none$n; </i><p></b>"))[1], in: 'DOMDocument::loadHTML');
check('DOMDocument::save', static fn($d, int $n) => [$d->save($to = slow('')) > 0, written($to)], $document, in: 'DOMDocument::save');
check('DOMDocument::saveHTMLFile', static fn($d, int $n) => [$d->saveHTMLFile($to = slow('')) > 0, written($to)], $document, in: 'DOMDocument::saveHTMLFile');
check('DOMXPath::query, with functions', static fn($path, int $n) => \array_map(static fn($node) => $node->textContent, \iterator_to_array($path->query("//a[php:functionString('strrev', .) = php:function('Matrix\\slow_reverse', string(.))]"))), static function () use ($document) { $path = new \DOMXPath($document()); $path->registerNamespace('php', 'http://php.net/xpath'); $path->registerPhpFunctions(); return $path; }, in: 'DOMXPath::query');
check('DOMXPath::evaluate', static fn($path, int $n) => $path->evaluate("php:function('Matrix\\slow_reverse', string(//a[$n]))"), static function () use ($document) { $path = new \DOMXPath($document()); $path->registerNamespace('php', 'http://php.net/xpath'); $path->registerPhpFunctions(); return $path; }, in: 'DOMXPath::evaluate');
check('DOMXPath::query, and the document is changed', static fn($path, int $n) => $n === 1 ? $path->query("//a[php:functionString('Matrix\\slow_reverse', .)]")->length : \get_class($path->document->removeChild($path->document->documentElement)), static function () use ($document) { $path = new \DOMXPath($document()); $path->registerNamespace('php', 'http://php.net/xpath'); $path->registerPhpFunctions(); return $path; }, in: 'DOMXPath::query', follows: true);
check('DOMDocument::validate', static fn($d, int $n) => noisily(fn() => $d->validate()), static function () { $d = new \DOMDocument; $d->loadXML('<!DOCTYPE r [<!ELEMENT r (a)>]><r><b/><c/></r>'); return $d; }, in: 'DOMDocument::validate');
check('DOMDocument::schemaValidateSource', static fn($d, int $n) => noisily(fn() => $d->schemaValidateSource('<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r" type="xs:int"/></xs:schema>')), static function () { $d = new \DOMDocument; $d->loadXML('<r>x</r>'); return $d; }, in: 'DOMDocument::schemaValidateSource');
check('DOMDocument::schemaValidate', static fn($d, int $n) => $d->schemaValidate(slow('<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r" type="xs:int"/></xs:schema>')), static function () { $d = new \DOMDocument; $d->loadXML('<r>1</r>'); return $d; }, in: 'DOMDocument::schemaValidate');
check('DOMDocument::relaxNGValidate', static fn($d, int $n) => $d->relaxNGValidate(slow('<element name="r" xmlns="http://relaxng.org/ns/structure/1.0"><text/></element>')), static function () { $d = new \DOMDocument; $d->loadXML('<r>1</r>'); return $d; }, in: 'DOMDocument::relaxNGValidate');
check('DOMDocument::xinclude', static function ($_, int $n) use ($xml) { $d = new \DOMDocument; $d->loadXML('<r xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="' . slow($xml($n)) . '"/></r>'); return [$d->xinclude(), $d->textContent]; }, in: 'DOMDocument::xinclude');
check('DOMElement::setAttribute', static fn($d, int $n) => $d->documentElement->setAttribute(text("a$n"), text("v$n"))->value, $document, static fn($d) => $d->documentElement->attributes->length, in: 'DOMElement::setAttribute');
check('DOMElement::append', static fn($d, int $n) => $d->documentElement->appendChild($d->createElement(text("e$n"), text('x')))->nodeName, $document, in: 'DOMDocument::createElement');
check('an element\'s property', static function ($d, int $n) { $d->documentElement->nodeValue = text("v$n"); return 1; }, $document, anywhere: true);
check('DOMDocument::registerNodeClass', static function ($d, int $n) { $d->registerNodeClass('DOMElement', on_demand(is: 'extends DOMElement')); return 1; }, $document, in: 'DOMDocument::registerNodeClass');
check('an entity loader', static function ($_, int $n) {
    \libxml_set_external_entity_loader(static function ($public, $system, $context) { pause(); return \fopen($system, 'r'); });
    $d = new \DOMDocument;
    $d->substituteEntities = true;
    $d->loadXML('<!DOCTYPE r [<!ENTITY e SYSTEM "' . slow("entity $n") . '">]><r>&e;</r>', LIBXML_NOENT);
    return $d->textContent;
}, in: 'DOMDocument::loadXML');
function slow_reverse(string $text): string { pause(); return \strrev($text); }
