--TEST--
SYN-4 what reads sources without compiling them sees them as they are
--EXTENSIONS--
tokenizer
--FILE--
<?php
require __DIR__ . '/kit.inc';

$source = "<?php\n// a comment\nspawn  task( 'x' );\n\$y = await \$x\n    until timeout(5);\nspawn function { suspend; };\nfunction f() { return __LINE__; }\n__halt_compiler(); await data";
T\work_in(['source.php' => $source, 'reads.php' => <<<'PHP'
    <?php
    $source = file_get_contents('source.php');
    echo json_encode([
        highlight_file('source.php', true), highlight_string($source, true), php_strip_whitespace('source.php'), token_get_all($source), array_map(fn($t) => [$t->id, $t->text, $t->line, $t->pos], PhpToken::tokenize($source)),
    ]);
    PHP]);
foreach ([' reads.php', ' -w source.php', ' -s source.php'] as $reads) {
    [$with, $off, $plain] = [T\command(T\interpreter() . $reads), T\command(T\interpreter('-d async.syntax=0') . $reads), T\command(without() . $reads)];
    T\check($reads, (string) $with === (string) $plain && (string) $off === (string) $plain && strlen($with) > 100, "$with\n$off\n$plain");
}
T\check('tokens', implode('', array_map(fn($token) => $token->text, PhpToken::tokenize($source))) === $source);
try {
    token_get_all($source, TOKEN_PARSE);
} catch (ParseError $e) {
    echo said($e), ' on line ', $e->getLine(), "\n"; // the parser that is asked for is PHP's
}

// reflection tells of the source, too
$code = "\n/** doc await \$x */\nfunction documented(\n    \$a = 1,\n) {\n    await spawn strrev('x');\n    return 5;\n}\n";
eval($code);
$f = new ReflectionFunction('documented');
echo json_encode([$f->getStartLine(), $f->getEndLine(), $f->getDocComment(), $f->getNumberOfParameters()]), "\n";
?>
--EXPECT--
reads.php: yes
 -w source.php: yes
 -s source.php: yes
tokens: yes
ParseError: syntax error, unexpected identifier "task" on line 3
[3,8,"\/** doc await $x *\/",1]
