<?php
// needs: ext:dom
namespace Matrix;

check('libxml_set_external_entity_loader', static fn($_, int $n) => \libxml_set_external_entity_loader([on_demand('static function f() {}'), 'f']), in: 'libxml_set_external_entity_loader');
\libxml_set_external_entity_loader(null);
check('libxml_disable_entity_loader', static fn($_, int $n) => noisily(fn() => \libxml_disable_entity_loader(false)), anywhere: true);
check('libxml_set_streams_context', static function ($_, int $n) {
    \libxml_set_streams_context(\stream_context_create());
    $d = new \DOMDocument;
    return [$d->load(slow("<r>$n</r>")), $d->textContent];
}, anywhere: true);
check('its messages', static fn($_, int $n) => \array_map(static fn($text) => \preg_replace('/^.*?\(\): | in .*/', '', $text), noisily(fn() => (new \DOMDocument)->loadXML("<r$n><a$n></r$n>"))[1]), anywhere: true);
