--TEST--
The process ends in order after a chroot, although /proc is not to be seen any more
--EXTENSIONS--
posix
--SKIPIF--
<?php
if (!function_exists('chroot')) die('skip this PHP has no chroot()');
if (posix_getuid() !== 0) die('skip chroot needs root');
?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

mkdir($root = sys_get_temp_dir() . '/chroot-' . getmypid());
$ended = T\php('
    Async\await(Async\spawn(fn() => null));
    var_dump(chroot(' . var_export($root, true) . '));
    exit(7);
');
rmdir($root);
echo $ended, "\n";
?>
--EXPECT--
[7] bool(true)
