--TEST--
SYN-4 sources in other encodings (zend.multibyte): what PHP can read as it stands has operators, what it translates means what it meant
--EXTENSIONS--
mbstring
--FILE--
<?php
require __DIR__ . '/kit.inc';

// In these bytes of Shift_JIS the second one is a backslash, or a back quote.
$tricky = "function await(\$x) { return \"\$x\"; } \$a = \"\x83\\\"; \$b = \"; spawn 1; await; \x95\\\"; \$c = '\x83\x60'; echo bin2hex(\$a), bin2hex(\$b), bin2hex(\$c), await(5);";
T\work_in([
    'utf8.php' => "<?php\necho bin2hex(await spawn strtoupper('\u{e9}x')), __LINE__;",
    'mark.php' => "\u{feff}<?php\necho bin2hex(await spawn strtoupper('\u{e9}x')), __LINE__;",
    'latin.php' => "<?php\ndeclare(encoding='ISO-8859-1');\necho bin2hex(await spawn strtoupper('\xe9x')), __LINE__;",
    'utf16.php' => "\xff\xfe" . mb_convert_encoding("<?php\necho bin2hex('\u{e9}'), __LINE__;", 'UTF-16LE', 'UTF-8'),
    'utf16-operator.php' => "\xff\xfe" . mb_convert_encoding("<?php\necho await spawn strrev('x');", 'UTF-16LE', 'UTF-8'),
    'sjis.php' => "<?php\n$tricky",
    'eucjp.php' => "<?php\n" . mb_convert_encoding("echo bin2hex(await spawn strrev('\u{8868}')), __LINE__;", 'EUC-JP', 'UTF-8'),
]);
foreach (['utf8.php' => '', 'mark.php' => '', 'latin.php' => '', 'utf16.php' => '', 'utf16-operator.php' => '', 'sjis.php' => '-d zend.script_encoding=SJIS', 'eucjp.php' => '-d zend.script_encoding=EUC-JP -d internal_encoding=EUC-JP'] as $file => $options) {
    foreach (['-d zend.multibyte=1', '-d zend.multibyte=1 -d opcache.enable=1 -d opcache.enable_cli=1'] as $multibyte) {
        echo "$file: ", short(T\command(T\interpreter("$multibyte $options") . " $file")), "\n";
    }
    $plain = T\command(without("-d zend.multibyte=1 $options") . " $file");
    if ($plain->status === 0) echo "    without the extension: $plain\n";
}
echo T\php('echo await spawn strrev("x");', '-d zend.multibyte=1'), ' ', T\command(T\interpreter('-d zend.multibyte=1') . ' -r ' . escapeshellarg('echo eval("return await spawn strrev(\'x\');");')), "\n";
?>
--EXPECT--
utf8.php: [0] c3a9582
utf8.php: [0] c3a9582
mark.php: [0] ﻿c3a9582
mark.php: [0] ﻿c3a9582
latin.php: [0] c3a9583
latin.php: [0] c3a9583
utf16.php: [0] c3a92
utf16.php: [0] c3a92
    without the extension: [0] c3a92
utf16-operator.php: [255] 
Parse error: syntax error, unexpected identifier "spawn", expecting "," or ";" in utf16-operator.php on line 2

utf16-operator.php: [255] 
Parse error: syntax error, unexpected identifier "spawn", expecting "," or ";" in utf16-operator.php on line 2

sjis.php: [0] e382bd3b20737061776e20313b2061776169743b20e8a1a8e383815
sjis.php: [0] e382bd3b20737061776e20313b2061776169743b20e8a1a8e383815
    without the extension: [0] e382bd3b20737061776e20313b2061776169743b20e8a1a8e383815
eucjp.php: [0] bdc92
eucjp.php: [0] bdc92
[0] x [0] x
