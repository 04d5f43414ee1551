--TEST--
SYN-4 files in archives, and their stubs; a path that only looks like one
--EXTENSIONS--
phar
zlib
--FILE--
<?php
require __DIR__ . '/kit.inc';

T\work_in(['make.php' => <<<'PHP'
    <?php
    $code = fn($name) => "<?php\nfunction of_$name(&\$x) { suspend; \$x = __LINE__; return '$name ' . basename(__FILE__); }\n\$c = spawn of_$name(\$line);\nreturn (await \$c) . \" \$line \" . basename(\$c->getSpawnLocation());";
    $stub = "<?php\n%sPhar::mapPhar('%s');\n\$name = Phar::running() ?: 'phar://' . __FILE__;\necho include 'phar://' . __FILE__ . '/file.php', ', ', include 'phar://' . __FILE__ . '/folder/other.php', ' ', __LINE__, \"\\n\";\n__HALT_COMPILER();";
    foreach ([['phar', Phar::PHAR, 0], ['phar', Phar::PHAR, Phar::GZ], ['phar.zip', Phar::ZIP, 0], ['phar.zip', Phar::ZIP, Phar::GZ], ['phar.tar', Phar::TAR, 0]] as $i => [$extension, $format, $compression]) {
        $phar = new Phar("archive$i.$extension");
        $phar['file.php'] = $code("a$i");
        $phar['folder/other.php'] = $code("b$i");
        $phar['folder/bad.php'] = "<?php\n\nspawn 1;";
        $phar['halt.php'] = "<?php await spawn strrev('x'); \$f = fopen(__FILE__, 'r'); fseek(\$f, __COMPILER_HALT_OFFSET__); return fgets(\$f); __halt_compiler();data";
        $phar->setStub(sprintf($stub, '', "archive$i.phar"));
        if ($compression) $phar->compressFiles($compression);
        if ($i === 0) $phar->compress(Phar::GZ, 'phar.gz')->setStub(sprintf($stub, '', 'archive0.phar.gz'));
    }
    foreach (['stub.phar', 'stub-and-more.phar'] as $i => $name) {
        $phar = new Phar($name);
        $phar['file.php'] = $code("c$i");
        $phar['folder/other.php'] = $code("d$i");
        $phar['folder/bad.php'] = "<?php\n\nspawn 1;";
        $phar->setStub(sprintf($stub, str_repeat("// text\n", $i * 100) . "echo await spawn strrev('buts'), ' ', await spawn fn() => __LINE__, ': ';\n\$f = fopen(__FILE__, 'r'); fseek(\$f, __COMPILER_HALT_OFFSET__ - 18); echo fread(\$f, 18), ' ';\n", $name));
    }
    unset($phar);
    copy('stub.phar', 'no-extension');
    PHP]);
echo T\command(T\interpreter('-d phar.readonly=0') . ' make.php'), "\n";
foreach ([...glob('archive*.phar*'), ...glob('stub*.phar*')] as $file) {
    echo "$file: ", str_replace("\n", '', short(T\command(T\interpreter() . " $file"))), ' | ', short(T\php("try { echo include 'phar://$file/file.php', ' '; include 'phar://$file/folder/bad.php'; } catch (ParseError \$e) { echo \$e->getMessage(), basename(\$e->getFile()), ':', \$e->getLine(); }")), "\n";
}
echo 'no-extension: ', short(T\command(T\interpreter() . ' no-extension'));
foreach (['archive0.phar', 'archive3.phar.zip', 'archive4.phar.tar'] as $file) {
    echo T\php("echo await spawn fn() => include 'phar://$file/halt.php';"), "\n";
}
echo T\php("include 'stub.phar';");

// no archives: a name and a folder
mkdir('my.pharmacy');
file_put_contents('my.pharmacy/page.php', "<?php\necho await spawn fn() => __LINE__, ' ', include __DIR__ . '/tablet.phar.php', \"\\n\";");
file_put_contents('my.pharmacy/tablet.phar.php', "<?php\nreturn await spawn fn() => basename(__FILE__);");
file_put_contents('bad.phar.php', "<?php\n\nspawn 1;");
foreach (['my.pharmacy/page.php', 'my.pharmacy/tablet.phar.php', 'bad.phar.php'] as $file) echo short(T\command(T\interpreter() . " $file")), "\n";
exec('rm -r my.pharmacy');
?>
--EXPECT--
[0] 
archive0.phar: [0] a0 file.php 2 file.php:3, b0 other.php 2 other.php:3 4 | [0] a0 file.php 2 file.php:3 syntax error, unexpected integer "1": spawn expects a call or a closurebad.php:3
archive0.phar.gz: [0] a0 file.php 2 file.php:3, b0 other.php 2 other.php:3 4 | [0] a0 file.php 2 file.php:3 syntax error, unexpected integer "1": spawn expects a call or a closurebad.php:3
archive1.phar: [0] a1 file.php 2 file.php:3, b1 other.php 2 other.php:3 4 | [0] a1 file.php 2 file.php:3 syntax error, unexpected integer "1": spawn expects a call or a closurebad.php:3
archive2.phar.zip: [0] a2 file.php 2 file.php:3, b2 other.php 2 other.php:3 4 | [0] a2 file.php 2 file.php:3 syntax error, unexpected integer "1": spawn expects a call or a closurebad.php:3
archive3.phar.zip: [0] a3 file.php 2 file.php:3, b3 other.php 2 other.php:3 4 | [0] a3 file.php 2 file.php:3 syntax error, unexpected integer "1": spawn expects a call or a closurebad.php:3
archive4.phar.tar: [0] a4 file.php 2 file.php:3, b4 other.php 2 other.php:3 4 | [0] a4 file.php 2 file.php:3 syntax error, unexpected integer "1": spawn expects a call or a closurebad.php:3
stub-and-more.phar: [0] stub 102: __HALT_COMPILER(); c1 file.php 2 file.php:3, d1 other.php 2 other.php:3 106 | [0] c1 file.php 2 file.php:3 syntax error, unexpected integer "1": spawn expects a call or a closurebad.php:3
stub.phar: [0] stub 2: __HALT_COMPILER(); c0 file.php 2 file.php:3, d0 other.php 2 other.php:3 6 | [0] c0 file.php 2 file.php:3 syntax error, unexpected integer "1": spawn expects a call or a closurebad.php:3
no-extension: [0] stub 2: __HALT_COMPILER(); c0 file.php 2 file.php:3, d0 other.php 2 other.php:3 6
[0] data
[0] data
[0] data
[0] stub 2: __HALT_COMPILER(); c0 file.php 2 file.php:3, d0 other.php 2 other.php:3 6
[0] 2 tablet.phar.php

[0] 
[255] 
Parse error: syntax error, unexpected integer "1": spawn expects a call or a closure in bad.phar.php on line 3
