--TEST--
SYN-4 __COMPILER_HALT_OFFSET__ is that of the file on disk, whatever operators are before it
--FILE--
<?php
require __DIR__ . '/kit.inc';

$own = '$f = fopen(__FILE__, "r"); fseek($f, __COMPILER_HALT_OFFSET__); $say(stream_get_contents($f));';
T\work_in($files = [
    'operators.php' => "<?php\nawait spawn strrev('x'); suspend; \$w = spawn function { return 5; };\n$own\nfunction of_operators() { return await spawn fn() => __COMPILER_HALT_OFFSET__; }\n\$say(of_operators() === __COMPILER_HALT_OFFSET__);\n__halt_compiler();DATA spawn f(; <?php await \$x; \"",
    'none.php' => "<?php\n$own\n__halt_compiler();none",
    'namespaced.php' => "<?php\nnamespace A; await spawn \\strrev('x'); $own\nnamespace B; await spawn \\strrev('x'); $own\n__halt_compiler();namespaced",
    'tag.php' => "text <?php await spawn strrev('x'); $own ?> more <?= await spawn fn() => 'echo' ?>\n<?php __halt_compiler() ?>tag",
    'spaced.php' => "<?php await spawn strrev('x'); $own\n__HALT_COMPILER /* a */ ( ) // b\n;spaced",
    'shebang.php' => "#!/usr/bin/env php\n<?php await spawn strrev('x'); $own __halt_compiler();shebang",
    'crlf.php' => "<?php\r\nawait spawn\r\n strrev('x'); $own\r\n__halt_compiler();\r\ncrlf",
    'binary.php' => "<?php\n// \xff\xfe \u{20ac}\nawait spawn strrev('\u{20ac}'); $own\n__halt_compiler();\0\xff\u{20ac}",
    'empty.php' => "<?php await spawn strrev('x'); $own __halt_compiler();",
    'in-a-string.php' => "<?php \$x = '__halt_compiler();'; await spawn strrev('x'); \$say(\$x); \$say(defined('__COMPILER_HALT_OFFSET__'));",
    'words.php' => "<?php\n// spawn f(); await \$x; suspend;\n\$x = 'await \$y';\n$own\n__halt_compiler();words",
]);
$all = implode(', ', array_map(fn($file) => "'$file'", array_keys($files)));
$each = <<<PHP
    \$say = fn(\$x) => print(json_encode(\$x, JSON_INVALID_UTF8_SUBSTITUTE) . ' ');
    foreach ([$all] as \$file) { echo "\\n\$file: "; include \$file; }
    \$say(eval("await spawn strrev('x'); return __COMPILER_HALT_OFFSET__; __halt_compiler();") === strlen("await spawn strrev('x'); return __COMPILER_HALT_OFFSET__; __halt_compiler();"));
    PHP;
$plain = T\php($each, '-d opcache.enable_cli=0');
echo $plain, "\n";
if (extension_loaded('Zend OPcache')) {
    $cache = getcwd() . '/cache';
    mkdir($cache);
    $on = '-d opcache.enable=1 -d opcache.enable_cli=1 -d opcache.jit=disable';
    foreach ([$on, "$on -d opcache.file_cache=$cache", "$on -d opcache.file_cache=$cache", "$on -d opcache.file_cache_only=1 -d opcache.file_cache=$cache"] as $options) {
        $again = T\php($each, $options);
        if ((string) $again !== (string) $plain) echo "$options: $again\n";
    }
    exec('rm -r cache');
}
echo "\nas the script itself:\n";
foreach (array_keys($files) as $file) {
    file_put_contents('say.php', '<?php $say = fn($x) => print(json_encode($x, JSON_INVALID_UTF8_SUBSTITUTE) . " ");');
    echo "$file: ", T\command(T\interpreter('-d auto_prepend_file=say.php') . " $file"), "\n";
}

// one process, several requests, some served from opcache
file_put_contents('page.php', '<?php $say = fn($x) => print(json_encode($x)); include $_GET["file"];');
$server = new T\BuiltInServer('-d opcache.enable=1 -d async.syntax=1');
foreach (['words.php', 'none.php', 'empty.php', 'words.php', 'none.php', 'empty.php', 'words.php'] as $file) {
    echo $server->get("page.php?file=$file"), ' ';
}
$server->end();
?>
--EXPECT--
[0] 
operators.php: "DATA spawn f(; <?php await $x; \"" true 
none.php: "none" 
namespaced.php: "namespaced" "namespaced" 
tag.php: text "tag"  more echo
spaced.php: "spaced" 
shebang.php: "shebang" 
crlf.php: "\r\ncrlf" 
binary.php: "\u0000\ufffd\u20ac" 
empty.php: "" 
in-a-string.php: "__halt_compiler();" false 
words.php: "words" true 

as the script itself:
operators.php: [0] "DATA spawn f(; <?php await $x; \"" true 
none.php: [0] "none" 
namespaced.php: [0] "namespaced" "namespaced" 
tag.php: [0] text "tag"  more echo
spaced.php: [0] "spaced" 
shebang.php: [0] "shebang" 
crlf.php: [0] "\r\ncrlf" 
binary.php: [0] "\u0000\ufffd\u20ac" 
empty.php: [0] "" 
in-a-string.php: [0] "__halt_compiler();" false 
words.php: [0] "words" 
"words" "none" "" "words" "none" "" "words"
