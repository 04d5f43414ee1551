--TEST--
IO-2 async.file_pool=all: calls on paths answer as in place and let others run; by default they are made in place
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
use function Async\{await, spawn};

require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';
T\work_in(['file' => 'content', 'other' => '']);

T\same_inside([
    'asking' => function() {
        clearstatcache(true);
        return [stat('file')['size'], @stat('nowhere'), lstat('file')['mode'] >> 12, file_exists('nowhere'), is_dir('.'), is_writable('file'), is_executable('file'), filesize('file'), realpath('./../' . basename(getcwd()) . '/file') === getcwd() . '/file', realpath('nowhere'), disk_total_space('.') > 0];
    },
    'names' => function($n) {
        $told = [mkdir("d$n"), @mkdir("d$n"), mkdir("d$n/e/f", 0750, true), decoct(fileperms("d$n/e/f")), rename('file', "d$n/e/moved"), @rename('file', 'x'), symlink("d$n/e/moved", 's'), readlink('s'), @readlink('other'), link('s', 'l') , unlink('s'), unlink('l')];
        clearstatcache();
        return str_replace("d$n", 'd', serialize([$told, rename("d$n/e/moved", 'file'), rmdir("d$n/e/f"), @rmdir("d$n"), rmdir("d$n/e"), rmdir("d$n"), @unlink('nowhere')]));
    },
    'attributes' => function() {
        $told = [chmod('file', 0604), decoct(fileperms('file')), touch('file', 77, 88), clearstatcache(), filemtime('file'), fileatime('file'), @chmod('nowhere', 0600), @touch('no/where'), chown('file', fileowner('file')), copy('file', 'copied'), file_get_contents('copied'), unlink('copied')];
        return $told;
    },
    'directories' => fn() => [scandir('.'), @scandir('nowhere'), glob('*'), glob(getcwd() . '/f*') === [getcwd() . '/file'], iterator_count(new FilesystemIterator('.')), iterator_count(new RecursiveIteratorIterator(new RecursiveDirectoryIterator('.')))],
    'files' => function() {
        $f = fopen('file', 'r+');
        $told = [fread($f, 3), ftruncate($f, 5), file_get_contents('file'), fclose($f), @fopen('nowhere', 'r'), @fopen('file', 'x'), file_put_contents('file', 'content'), filesize('file')];
        $f = tmpfile();
        fwrite($f, 'x');
        $t = tempnam(getcwd(), 'tmp');
        return [...$told, stream_get_contents($f, -1, 0), filesize($t), unlink($t)];
    },
    'warnings' => function() {
        $told = [];
        foreach ([fn() => stat('nowhere'), fn() => unlink('nowhere'), fn() => mkdir('file'), fn() => opendir('file'), fn() => fopen('no/where', 'w'), fn() => rename('no', 'where')] as $call) {
            @$call();
            $told[] = error_get_last()['message'];
        }
        return $told;
    },
]);

foreach ([
    'file_exists' => fn() => file_exists('file'),
    'is_link' => fn() => is_link('file'),
    'fopen' => fn() => fopen('file', 'r'),
    'opendir' => fn() => opendir('.'),
    'unlink' => fn() => @unlink('nowhere'),
    'copy' => fn() => copy('other', 'copied'),
] as $name => $call) {
    clearstatcache(true);
    $order = '';
    $two = null;
    $one = spawn(function() use ($call, &$order, &$two) {
        $order .= 'a';
        $two = spawn(function() use (&$order) { $order .= 'b'; });
        $call();
        $order .= 'c';
    });
    await($one);
    await($two);
    echo "$name $order\n";
}
PHP;
// In their usual order: a call that has ended already may come first by a seed.
echo T\php($code, '-d async.seed=0 -d async.file_pool=all'), "\n";
foreach (['default' => 'file_exists acb', 'Default' => 'file_exists acb', 'ALL' => 'file_exists abc'] as $value => $expected) {
    T\check("async.file_pool=$value", T\php($code, "-d async.seed=0 -d async.file_pool=$value")->has($expected));
}
foreach (['many', '1', '""'] as $value) {
    $ended = T\php('echo ini_get("async.file_pool");', "-d display_startup_errors=1 -d async.file_pool=$value");
    T\check("async.file_pool=$value", $ended->has('async.file_pool must be "default" or "all", "' . trim($value, '"') . '" given') && str_ends_with($ended->output, 'default'), $ended);
}
?>
--EXPECT--
[0] asking: yes
names: yes
attributes: yes
directories: yes
files: yes
warnings: yes
file_exists abc
is_link abc
fopen abc
opendir abc
unlink abc
copy abc

async.file_pool=default: yes
async.file_pool=Default: yes
async.file_pool=ALL: yes
async.file_pool=many: yes
async.file_pool=1: yes
async.file_pool="": yes
