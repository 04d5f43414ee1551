--TEST--
SYN-4 all ways by which PHP comes to code: -r, standard input, files before and after, stream wrappers, eval in eval, include in coroutines
--EXTENSIONS--
zlib
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = "<?php\nreturn await spawn strrev('x') . ' ' . __LINE__ . ' ' . basename(__FILE__);";
$dir = T\work_in(['code.php' => $code, 'code.gz' => gzencode($code), 'prepend.php' => "<?php\necho await spawn fn() => 'before ' . __LINE__ . ', ';", 'append.php' => "<?php\n\necho await spawn fn() => 'after ' . __LINE__ . ', ';\nspawn function { suspend; echo 'spawned after'; };", 'script.php' => "<?php\necho 'script ', await spawn fn() => __LINE__, ', ';"]);

echo "-- by the command line\n";
$run = fn(string $options, string $stdin = '') => print(short(T\command(T\interpreter($options), $stdin)) . "\n");
$run('-r ' . escapeshellarg("\necho await spawn fn() => __LINE__ . ' ' . __FILE__; spawn function { echo \" spawned\"; };"));
$run('-r ' . escapeshellarg("\necho 1;\nspawn 1;"));
$run('', "<?php\necho await spawn fn() => __LINE__ . ' ' . basename(__FILE__);\nspawn 1 + 1;");
$run('', "<?php\necho await spawn fn() => __LINE__ . ' ' . basename(__FILE__);");
$run('-f script.php');
$run('-d auto_prepend_file=prepend.php -d auto_append_file=append.php script.php');
$run("-d auto_prepend_file=prepend.php -d auto_append_file=append.php", '<?= await spawn fn() => "stdin, " ?>');
file_put_contents('bad.php', "<?php\n\necho await spawn;\nspawn 1;");
$run('-d auto_prepend_file=bad.php script.php');
$run('-d auto_append_file=bad.php script.php');

echo "-- by streams\n";
final class Memory
{
    public $context;
    public static array $files;
    private int $at = 0;
    private string $code;
    public function stream_open($path, $mode, $options, &$opened): bool { if (!isset(self::$files[$path])) return false; $this->code = self::$files[$path]; return true; }
    public function stream_read($count): string|false
    {
        suspend;
        if (str_contains($this->code, 'throws')) throw new DomainException('while it is read');
        $part = substr($this->code, $this->at, 7);
        $this->at += strlen($part);
        return $part;
    }
    public function stream_eof(): bool { return $this->at >= strlen($this->code); }
    public function stream_stat(): array { return str_contains($this->code, 'sized') ? ['size' => strlen($this->code)] : []; }
    public function stream_set_option($o, $a, $b): bool { return false; }
}
stream_wrapper_register('memory', Memory::class);
Memory::$files = ['memory://code.php' => $code, 'memory://sized.php' => "$code // sized", 'memory://bad.php' => "<?php\n\nspawn 1;", 'memory://broken.php' => "<?php\n\nspawn f(;", 'memory://throws.php' => "$code // throws", 'memory://empty.php' => ''];
foreach (['memory://code.php', 'memory://sized.php', 'memory://bad.php', 'memory://broken.php', 'memory://throws.php', 'memory://empty.php', 'compress.zlib://code.gz', 'glob://code.php', 'php://memory', "file://$dir/code.php", './code.php', 'php://filter/read=string.rot13|string.rot13/resource=code.php'] as $file) {
    foreach ([fn() => @include $file, fn() => await spawn fn() => @include $file] as $includes) {
        try {
            $said = json_encode($includes());
        } catch (Throwable $e) {
            $said = said($e) . ' ' . basename($e->getFile()) . ':' . $e->getLine();
        }
        echo str_replace($dir, 'DIR', $file), ": $said\n";
    }
}
$options = '-d allow_url_include=1 -d error_reporting=' . (E_ALL & ~E_DEPRECATED);
echo T\php("echo include 'data:text/plain;base64," . base64_encode('<?php return await spawn fn() => __LINE__;') . "', ' ', include 'data:text/plain,' . rawurlencode('<?php return await spawn fn() => __LINE__;');", $options), "\n";

echo "-- eval in eval\n";
function place() { return short(implode(' < ', array_map(fn($f) => ($f['file'] ?? '') . ':' . ($f['line'] ?? ''), array_slice(debug_backtrace(), 0, 2)))); }
echo eval("\nreturn await spawn fn() => eval(\"\\n\\nreturn await spawn fn() => eval('\\n\\n\\nreturn await spawn place();');\");"), "\n";
try {
    eval("\neval('\n\nspawn 1;');");
} catch (ParseError $e) {
    echo said($e), ' in ', short($e->getFile()), ':', $e->getLine(), "\n";
}
eval('?>text <?= await spawn fn() => "in eval" ?> text <?php suspend;');
eval('spawn function { echo "spawned in eval, "; }');
T\alone();
echo "\n", json_encode([eval(''), eval('return await spawn fn() => 1;'), eval("return await spawn fn() => '\0' . __LINE__;\r\n")]), "\n";
try { eval("#!shebang\nreturn await spawn fn() => 1;"); echo "comment\n"; } catch (ParseError $e) { echo said($e), "\n"; }

echo "-- in coroutines, while others run\n";
for ($i = 0; $i < 20; $i++) {
    Memory::$files["memory://$i.php"] = "<?php\nfunction included_$i(&\$n) { \$n = __LINE__ + $i; suspend; return '$i'; }\nsuspend;\nreturn [await spawn included_$i(\$n), \$n, await spawn function { suspend; return __LINE__; }];" . str_repeat(' ', $i);
    $includes = fn() => include "memory://$i.php";
    $all[$i] = spawn $includes();
}
$right = 0;
foreach ($all as $i => $c) $right += await $c === [(string) $i, 2 + $i, 4];
echo "$right of 20\n";
?>
--EXPECT--
-- by the command line
[0] 2 Command line code spawned
[255] 
Parse error: syntax error, unexpected integer "1": spawn expects a call or a closure in Command line code on line 3

[255] 
Parse error: syntax error, unexpected integer "1": spawn expects a call or a closure in Standard input code on line 3

[0] 2 Standard input code
[0] script 2, 
[0] before 2, script 2, after 3, spawned after
[0] before 2, stdin, after 3, spawned after
[255] 
Parse error: syntax error, unexpected integer "1": spawn expects a call or a closure in bad.php on line 4

[255] script 2, 
Parse error: syntax error, unexpected integer "1": spawn expects a call or a closure in bad.php on line 4

-- by streams
memory://code.php: "x 2 code.php"
memory://code.php: "x 2 code.php"
memory://sized.php: "x 2 sized.php"
memory://sized.php: "x 2 sized.php"
memory://bad.php: ParseError: syntax error, unexpected integer "1": spawn expects a call or a closure bad.php:3
memory://bad.php: ParseError: syntax error, unexpected integer "1": spawn expects a call or a closure bad.php:3
memory://broken.php: ParseError: syntax error, unexpected token ";" broken.php:3
memory://broken.php: ParseError: syntax error, unexpected token ";" broken.php:3
memory://throws.php: DomainException: while it is read syn-4-ways-to-compile.php:31
memory://throws.php: DomainException: while it is read syn-4-ways-to-compile.php:31
memory://empty.php: 1
memory://empty.php: 1
compress.zlib://code.gz: "x 2 code.gz"
compress.zlib://code.gz: "x 2 code.gz"
glob://code.php: false
glob://code.php: false
php://memory: 1
php://memory: 1
file://DIR/code.php: "x 2 code.php"
file://DIR/code.php: "x 2 code.php"
./code.php: "x 2 code.php"
./code.php: "x 2 code.php"
php://filter/read=string.rot13|string.rot13/resource=code.php: "x 2 code.php"
php://filter/read=string.rot13|string.rot13/resource=code.php: "x 2 code.php"
[0] 1 1
-- eval in eval
syn-4-ways-to-compile.php(57) : eval()'d code(2) : eval()'d code(3) : eval()'d code:4
ParseError: syntax error, unexpected integer "1": spawn expects a call or a closure in syn-4-ways-to-compile.php(59) : eval()'d code(2) : eval()'d code:3
text in eval text spawned in eval, 
[false,1,"\u00001"]
comment
-- in coroutines, while others run
20 of 20
