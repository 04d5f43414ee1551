<?php
namespace Matrix;

$xml = static fn($n) => "<r><a>one $n</a><a>two $n</a></r>";
check('XMLReader::open', static function ($_, int $n) use ($xml) { $reader = \XMLReader::open(slow($xml($n))); $all = []; while ($reader->read()) $all[] = "$reader->name $reader->value"; return $all; }, in: ['XMLReader::open', 'XMLReader::read']);
check('XMLReader::next', static fn($reader, int $n) => $reader->next(), static function () { $reader = \XMLReader::open(slow('<r>' . \str_repeat('<a>text</a>', 2000) . '</r>')); $reader->read(); return $reader; }, in: 'XMLReader::next');
check('XMLReader::expand', static fn($reader, int $n) => \strlen($reader->readOuterXml()), static function () { $reader = \XMLReader::open(slow("<r>" . \str_repeat('<a>text</a>', 2000) . '</r>')); $reader->read(); return $reader; }, in: 'XMLReader::readOuterXml');
check('XMLReader, complaining', static fn($_, int $n) => noisily(static function () use ($n) { $reader = \XMLReader::XML("<r$n><a$n></r$n>"); while ($reader->read()); })[1], in: 'XMLReader::read');
check('XMLReader::XML', static fn($_, int $n) => \XMLReader::XML(text("<r$n/>"))->read(), in: 'XMLReader::XML');
check('XMLReader::setRelaxNGSchema', static function ($_, int $n) { $reader = \XMLReader::XML('<r>1</r>'); return [$reader->setRelaxNGSchema(slow('<element name="r" xmlns="http://relaxng.org/ns/structure/1.0"><text/></element>')), $reader->read()]; }, in: 'XMLReader::setRelaxNGSchema');
check('XMLReader::getAttribute', static fn($reader, int $n) => $reader->getAttribute(text("a$n")), static function () { $reader = \XMLReader::XML('<r a1="x" a2="y"/>'); $reader->read(); return $reader; }, in: 'XMLReader::getAttribute');
