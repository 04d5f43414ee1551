<?php
namespace Matrix;

$writer = static function () { $writer = new \XMLWriter; $writer->openMemory(); $writer->startElement('r'); return $writer; };
check('XMLWriter::openUri', static function ($_, int $n) { $w = new \XMLWriter; $w->openUri($to = slow('')); $w->writeElement("e$n", 'text'); $w->flush(); unset($w); return written($to); }, in: ['XMLWriter::openUri', 'XMLWriter::flush']);
check('XMLWriter::flush', static fn($w, int $n) => $w->writer->writeElement("e$n", 'text') && $w->writer->flush(), static function () { $w = new \XMLWriter; $w->openUri($to = slow('')); return (object) ['writer' => $w, 'to' => $to]; }, apart: true, in: 'XMLWriter::flush');
check('XMLWriter to the output', static fn($_, int $n) => printed(static function () use ($n) { $w = new \XMLWriter; $w->openUri('php://output'); $w->writeElement("e$n", 'text'); return $w->flush(); }), in: 'XMLWriter::flush');
check('XMLWriter::writeElement', static fn($w, int $n) => $w->writeElement(text("e$n"), text("v$n")), $writer, static fn($w) => $w->outputMemory(), in: 'XMLWriter::writeElement');
check('XMLWriter::writeAttribute', static fn($w, int $n) => $w->writeAttribute(text("e$n"), text("v$n")), $writer, static fn($w) => $w->outputMemory(), in: 'XMLWriter::writeAttribute');
check('XMLWriter::startElement, wrong', static fn($w, int $n) => noisily(fn() => $w->startElement(text("<$n"))), $writer, in: 'XMLWriter::startElement');
check('xmlwriter_text', static fn($w, int $n) => \xmlwriter_text($w, text("v$n")), $writer, static fn($w) => $w->outputMemory(), in: 'xmlwriter_text');
