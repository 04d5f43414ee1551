--TEST--
SYN-4 files that cannot be included: the same warnings and errors, and as often, as without the extension
--FILE--
<?php
require __DIR__ . '/kit.inc';

$dir = T\work_in(['script.php' => <<<'PHP'
    <?php
    $how = [
        'include' => fn($file) => include $file,
        'include_once' => fn($file) => include_once $file,
        'silent' => fn($file) => @include $file,
        'highlight' => fn($file) => highlight_file($file, true),
        'strip' => fn($file) => php_strip_whitespace($file),
        'opcache' => fn($file) => function_exists('opcache_compile_file') ? opcache_compile_file($file) : false,
        'require' => fn($file) => require $file,
    ];
    class W { public $context; function stream_open($path) { echo '[open]'; return !str_contains($path, 'none'); } function stream_read() { echo '[read]'; return false; } function stream_eof() { return false; } function stream_stat() { return []; } function stream_set_option() { return false; } function stream_close() { echo '[close]'; } }
    stream_wrapper_register('mem', 'W');
    set_error_handler($handler = function ($level, $message, $file, $line) { echo "    $level: $message on line $line\n"; return false; });
    $file = $argv[1];
    if ($file === 'locked.php' && posix_geteuid() === 0) posix_seteuid(65534);
    foreach ($how as $name => $way) {
        echo "$name:\n";
        try {
            echo json_encode($way($file)), "\n";
        } catch (Throwable $e) {
            echo get_class($e), ': ', $e->getMessage(), "\n";
        }
        echo json_encode(error_get_last()), count(get_included_files()), "\n";
    }
    PHP, 'locked.php' => '<?php return 1;', 'broken.php' => "<?php\nfoo bar;\n"]);
chmod('locked.php', 0);
mkdir('folder.php');
symlink('nowhere', 'dangling.php');
symlink('loop.php', 'loop.php');
$without = without();
T\check('there is a php without it', !T\command("$without -m")->has('spindle'));
$same = $all = 0;
foreach (['no-such.php', './no-such.php', "$dir/no-such.php", 'no-such-folder/x.php', 'folder.php', 'dangling.php', 'loop.php', 'no-such.phar', 'phar://no-such.phar/x.php', 'script.php/x.php', '', 'http://', 'nothing://x', 'mem://none', 'mem://no-read', 'php://nothing', '/proc/self/mem', 'locked.php', 'broken.php', 'x.phar/bad.php'] as $file) {
    foreach (['', '-d opcache.enable=1 -d opcache.enable_cli=1'] as $options) {
        [$with, $plain] = array_map(fn($php) => preg_replace('~proc\W+\K\d+~', 'PID', T\command("$php $options script.php " . escapeshellarg($file))), [T\interpreter(), $without]);
        $all++;
        if ($with === $plain) $same++;
        else echo "$options $file: ", json_encode([$with, $plain], JSON_UNESCAPED_SLASHES), "\n";
    }
}
echo "$same of $all are the same\n";

// the script itself
foreach (['no-such.php', 'folder.php', 'broken.php', '-f no-such.php', '-l no-such.php', '-d auto_prepend_file=no-such.php script.php x'] as $script) {
    [$with, $plain] = [(string) T\command(T\interpreter() . " $script"), (string) T\command("$without $script")];
    T\check($script, $with === $plain, json_encode([$with, $plain]));
}
?>
--EXPECT--
there is a php without it: yes
40 of 40 are the same
no-such.php: yes
folder.php: yes
broken.php: yes
-f no-such.php: yes
-l no-such.php: yes
-d auto_prepend_file=no-such.php script.php x: yes
