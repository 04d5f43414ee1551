--TEST--
SYN-4 sources of all shapes: what they print, and the lines they say, with the operators and with functions in their place
--FILE--
<?php
require __DIR__ . '/kit.inc';

// Of each source there is one with operators and one that says the same by functions; they must do the same.
$o = 'await spawn strrev("x")';
$f = '\Async\await(\Async\spawn("strrev", "x"))';
$sources = [
    'shebang' => "#!/usr/bin/env php\n<?php\necho @, __LINE__;\necho \$undefined;\n",
    'shebang, CRLF' => "#!/usr/bin/env php\r\n<?php\r\necho @, __LINE__;\r\necho \$undefined;\r\n",
    'LF' => "<?php\n\necho @,\n__LINE__;\necho \$undefined;",
    'CRLF' => "<?php\r\n\r\necho @,\r\n__LINE__;\r\necho \$undefined;\r\n",
    'CR' => "<?php\r\recho @,\r__LINE__;\recho \$undefined;\r",
    'all of them' => "<?php\r\n\n\recho @,\r__LINE__;\n\r\necho \$undefined;\r",
    'a byte order mark' => "\u{feff}<?php\necho @, __LINE__;\necho \$undefined;",
    'bytes that are no UTF-8' => "<?php\n\$\xe9 = '\xff\xfe';\nfunction \xff(\$x) { return \$x; }\necho bin2hex(\xff(\$\xe9)), @, __LINE__, ' \xf0\x28 ';\necho \$undefined\xff;",
    'a NUL byte in a string' => "<?php\necho strlen('a\0b'), @, __LINE__;\necho \$undefined;",
    'a NUL byte in a comment' => "<?php\n# a\0b\n/* \0 */ echo @, __LINE__;\necho \$undefined;",
    'a NUL byte before the code' => "\0\n<?php\necho @, __LINE__;\necho \$undefined;",
    'a NUL byte in the code' => "<?php\necho @, \0 __LINE__;",
    'nothing' => '',
    'only a tag' => '<?php',
    'only text' => 'spawn f(); await $x;',
    'a tag and nothing after it' => "<?php echo @;\n?>",
    'no line end at the end' => '<?php echo @',
    'no line end after the semicolon' => '<?php echo @;',
    'no semicolon before the tag' => '<?php echo @ ?>',
    'a line end after the tag' => "a<?php echo @ ?>\nb<?= @ ?>\n\nc<?= @?>d",
    'short echo tags' => '<?=@?><?= @ , @ ?><?=@;?>',
    'short tags' => "<? echo @; ?>x<?= @ ?>",
    'tags in strings and comments' => "<?php echo '?>', @; // ?>after\n<?php # @ ?>after\n<?php /* ?> */ echo @; echo \"<?php\";",
    'the script tag' => '<script language="php">echo @;</script><% echo @; %>',
    'upper case' => "<?PHP\nEcho @, __line__;",
    'much text' => str_repeat("text <?php /* */ ?>\n", 500) . '<?= __LINE__, @, $undefined ?>',
    'a long line' => '<?php echo ' . str_repeat("'.',", 5000) . '@, __LINE__;',
    'many lines' => '<?php ' . str_repeat("\n", 20000) . ' echo @, __LINE__; echo $undefined;',
    'heredocs' => "<?php\n\$s = fn(\$x) => \$x;\necho <<<A\n  {\$s(@)}\n  @ \$s[\n  A;", // does not compile
    'a heredoc' => "<?php\n\$s = fn(\$x) => \$x;\necho <<<A\n  {\$s(@)}\n    text\n  A, __LINE__, <<<'B'\n @\n B;\necho \$undefined;",
    'comments in between' => "<?php\necho /* a */ @ /* b */ # c\n , // d\n __LINE__;\necho \$undefined;",
    'declare' => "<?php\ndeclare(strict_types=1);\necho @, __LINE__;\nstrrev(5);",
    'ticks' => "<?php\ndeclare(ticks=1);\nregister_tick_function(fn() => print('.'));\necho @;\n\$x = @;\n",
    'namespaces' => "<?php\nnamespace A { function strrev(\$x) { return 'A'; } echo \\strlen(@); }\nnamespace { echo @, __LINE__; echo \$undefined; }",
    'return' => "<?php\nreturn @ . __LINE__; echo 'no';",
];
T\work_in(['driver.php' => <<<'PHP'
    <?php
    foreach (glob("$argv[1]/*.php") as $file) {
        ob_start();
        try {
            $value = include $file;
        } catch (Throwable $e) {
            $value = get_class($e) . ": {$e->getMessage()} in {$e->getFile()}:{$e->getLine()}";
        }
        // where it is text, it is text
        file_put_contents("$file.out", json_encode(str_replace([$argv[2], __DIR__ . "/$argv[1]/"], ['@', ''], [ob_get_clean(), $value]), JSON_INVALID_UTF8_SUBSTITUTE));
    }
    PHP]);
foreach (['operators' => $o, 'functions' => $f] as $dir => $expression) {
    mkdir($dir);
    foreach (array_values($sources) as $i => $source) {
        file_put_contents("$dir/$i.php", str_replace('@', $expression, $source));
    }
}
foreach (['', '-d short_open_tag=1', '-d opcache.enable=1 -d opcache.enable_cli=1'] as $options) {
    $same = 0;
    foreach (['operators' => $o, 'functions' => $f] as $dir => $text) echo T\command(T\interpreter($options) . " driver.php $dir " . escapeshellarg($text)), ' ';
    foreach (array_keys($sources) as $i => $name) {
        [$with, $without] = [file_get_contents("operators/$i.php.out"), file_get_contents("functions/$i.php.out")];
        if ($with === $without) $same++;
        else echo "$name: ", "\n    $with\n    $without", "\n";
    }
    echo $same, ' of ', count($sources), " do the same\n";
}

// the script itself, by its name and by the standard input, and checked
foreach (['shebang', 'shebang, CRLF', 'CR', 'a byte order mark', 'bytes that are no UTF-8', 'a NUL byte in the code', 'no line end at the end', 'no semicolon before the tag', 'a line end after the tag', 'many lines', 'declare', 'nothing'] as $name) {
    $i = array_search($name, array_keys($sources));
    $said = [];
    foreach (["operators/$i.php", "< operators/$i.php", "-l operators/$i.php"] as $how) {
        $said[] = str_replace("operators/$i.php", 'FILE', short(T\command(T\interpreter() . " $how")));
        $said[array_key_last($said)] = str_replace("$i.php", 'FILE', end($said));
    }
    echo "$name: ", json_encode($said, JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES), "\n";
}
exec('rm -r operators functions');
?>
--EXPECT--
[0]  [0]  35 of 35 do the same
[0]  [0]  35 of 35 do the same
[0]  [0]  35 of 35 do the same
shebang: ["[0] x3\nWarning: Undefined variable $undefined in FILE on line 4\n","[0] x3\nWarning: Undefined variable $undefined in Standard input code on line 4\n","[0] No syntax errors detected in FILE\n"]
shebang, CRLF: ["[0] x3\nWarning: Undefined variable $undefined in FILE on line 4\n","[0] x3\nWarning: Undefined variable $undefined in Standard input code on line 4\n","[0] No syntax errors detected in FILE\n"]
CR: ["[0] x4\nWarning: Undefined variable $undefined in FILE on line 5\n","[0] x4\nWarning: Undefined variable $undefined in Standard input code on line 5\n","[0] No syntax errors detected in FILE\n"]
a byte order mark: ["[0] ﻿x2\nWarning: Undefined variable $undefined in FILE on line 3\n","[0] ﻿x2\nWarning: Undefined variable $undefined in Standard input code on line 3\n","[0] No syntax errors detected in FILE\n"]
bytes that are no UTF-8: ["[0] fffex4 �( \nWarning: Undefined variable $undefined� in FILE on line 5\n","[0] fffex4 �( \nWarning: Undefined variable $undefined� in Standard input code on line 5\n","[0] No syntax errors detected in FILE\n"]
a NUL byte in the code: ["[255] \nParse error: syntax error, unexpected character 0x00 in FILE on line 2\n","[255] \nParse error: syntax error, unexpected character 0x00 in Standard input code on line 2\n","[255] \nParse error: syntax error, unexpected character 0x00 in FILE on line 2\nErrors parsing FILE\n"]
no line end at the end: ["[255] \nParse error: syntax error, unexpected end of file, expecting \",\" or \";\" in FILE on line 1\n","[255] \nParse error: syntax error, unexpected end of file, expecting \",\" or \";\" in Standard input code on line 1\n","[255] \nParse error: syntax error, unexpected end of file, expecting \",\" or \";\" in FILE on line 1\nErrors parsing FILE\n"]
no semicolon before the tag: ["[0] x","[0] x","[0] No syntax errors detected in FILE\n"]
a line end after the tag: ["[0] axbx\ncxd","[0] axbx\ncxd","[0] No syntax errors detected in FILE\n"]
many lines: ["[0] x20001\nWarning: Undefined variable $undefined in FILE on line 20001\n","[0] x20001\nWarning: Undefined variable $undefined in Standard input code on line 20001\n","[0] No syntax errors detected in FILE\n"]
declare: ["[255] x3\nFatal error: Uncaught TypeError: strrev(): Argument #1 ($string) must be of type string, int given in FILE:4\nStack trace:\n#0 FILE(4): strrev(5)\n#1 {main}\n  thrown in FILE on line 4\n","[255] x3\nFatal error: Uncaught TypeError: strrev(): Argument #1 ($string) must be of type string, int given in Standard input code:4\nStack trace:\n#0 Standard input code(4): strrev(5)\n#1 {main}\n  thrown in Standard input code on line 4\n","[0] No syntax errors detected in FILE\n"]
nothing: ["[0] ","[0] ","[0] No syntax errors detected in FILE\n"]
