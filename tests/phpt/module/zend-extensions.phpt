--TEST--
Calls of extensions loaded by zend_extension are not redirected, also those of an opcache that is enabled
--FILE--
<?php
require __DIR__ . '/kit.inc';

// From PHP 8.5 on opcache is a part of PHP.
if (!extension_loaded('Zend OPcache') || PHP_VERSION_ID >= 80500) die("Excluded opcache.so, patched 0, Excluded opcache.so, patched 0, ");
$code = <<<'PHP'
    Async\await(Async\spawn(fn () => 1));
    ob_start();
    (new ReflectionExtension('spindle'))->info();
    preg_match_all('~^(?:Library (\S+opcache\.so)|(Excluded opcache\.so))~m', ob_get_clean(), $m);
    echo implode(' ', array_filter($m[2])), ', patched ', count(array_filter($m[1])), ', ';
    PHP;
foreach ([0, 1] as $on) echo T\php($code, "-d opcache.enable_cli=$on")->output;
?>
--EXPECT--
Excluded opcache.so, patched 0, Excluded opcache.so, patched 0,
