--TEST--
H17 extensions that work on the same trees in memory take turns together
--EXTENSIONS--
dom
simplexml
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$document = new DOMDocument;
$document->loadXML('<r><a/></r>');
$tree = simplexml_import_dom($document);
$goes_on = false;
function held(): string
{
    while (!$GLOBALS['goes_on']) suspend();
    return 'held';
}
$xpath = new DOMXPath($document);
$xpath->registerNamespace('php', 'http://php.net/xpath');
$xpath->registerPHPFunctions();
$dom = spawn(fn() => $xpath->evaluate('php:functionString("held")'));
T\begun($dom);
$simplexml = spawn(fn() => $tree->a->getName());
T\begun($simplexml);
T\check('the other one waits', $simplexml->getAwaitingInfo()['call'] === 'locked handle', $simplexml->getAwaitingInfo());
$goes_on = true;
echo await($dom), ' ', await($simplexml), "\n";
?>
--EXPECT--
the other one waits: yes
held a
