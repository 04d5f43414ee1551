<?php
// needs: ext:dom
namespace Matrix;

function slow_double(string $text): string { pause(); return $text . $text; }
function slow_node(array $nodes): \DOMNode { pause(); return $nodes[0]; }
function complaining(string $text): string { \trigger_error("of $text", E_USER_NOTICE); return $text; }
$document = static function (string $xml): \DOMDocument { $d = new \DOMDocument; $d->loadXML($xml); return $d; };
$sheet = static fn(string $select) => $document('<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:php="http://php.net/xsl" exclude-result-prefixes="php"><xsl:output method="text"/><xsl:param name="p"/><xsl:key name="k" match="a" use="."/><xsl:template match="/"><xsl:for-each select="//a"><xsl:value-of select="' . $select . '"/>;</xsl:for-each><xsl:value-of select="$p"/></xsl:template></xsl:stylesheet>');
$processor = static function (string $select = "php:function('Matrix\\slow_double', string(.))") use ($sheet) {
    $processor = new \XSLTProcessor;
    $processor->registerPHPFunctions();
    $processor->importStylesheet($sheet($select));
    return $processor;
};
$source = static fn(int $n) => $document("<r><a>x$n</a><a>y$n</a></r>");
check('XSLTProcessor::transformToXml', static fn($p, int $n) => $p->transformToXml($source($n)), $processor, in: 'XSLTProcessor::transformToXml');
check('XSLTProcessor::transformToXml, of one document', static fn($d, int $n) => $processor()->transformToXml($d), static fn() => $source(3), in: 'XSLTProcessor::transformToXml');
check('XSLTProcessor::transformToDoc', static fn($p, int $n) => $p->transformToDoc($source($n))->textContent, $processor, in: 'XSLTProcessor::transformToDoc');
check('XSLTProcessor::transformToUri', static fn($p, int $n) => [$p->transformToUri($source($n), $to = slow('')) > 0, written($to)], $processor, in: 'XSLTProcessor::transformToUri');
check('XSLTProcessor, with nodes', static fn($p, int $n) => $p->transformToXml($source($n)), static fn() => $processor("php:function('Matrix\\slow_node', .)"), in: 'XSLTProcessor::transformToXml');
check('XSLTProcessor, and the document is changed', static fn($d, int $n) => $n === 1 ? $processor()->transformToXml($d) : \get_class($d->removeChild($d->documentElement)), static fn() => $source(1), static fn($d) => $d->textContent, in: 'XSLTProcessor::transformToXml', follows: true);
check('XSLTProcessor, and document()', static fn($p, int $n) => $p->transformToXml($source($n)), static fn() => $processor("document('" . slow('<x>other</x>') . "')/x"), in: 'XSLTProcessor::transformToXml');
check('XSLTProcessor::importStylesheet', static function ($p, int $n) use ($document) { return noisily(fn() => $p->importStylesheet($document('<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:nothing/><xsl:template match="["/></xsl:stylesheet>'))); }, static fn() => new \XSLTProcessor, in: 'XSLTProcessor::importStylesheet');
check('XSLTProcessor::setParameter', static fn($p, int $n) => $p->setParameter(text(''), text('p'), text("v$n")), $processor, in: 'XSLTProcessor::setParameter');
check('XSLTProcessor, complaining', static fn($p, int $n) => noisily(fn() => $p->transformToXml($source($n))), static fn() => $processor("php:function('Matrix\\complaining', string(.))"), in: 'XSLTProcessor::transformToXml');
