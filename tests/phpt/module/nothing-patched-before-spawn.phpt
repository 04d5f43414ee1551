--TEST--
Nothing is interposed before the first spawn, much is afterwards, and phpinfo() tells
--FILE--
<?php
require __DIR__ . '/kit.inc';

function interposed(): array
{
    ob_start();
    phpinfo(INFO_MODULES);
    $text = ob_get_clean();
    preg_match('/^spindle$(.*?)(?=^\w[\w ]*$\n\n|\z)/ms', $text, $section);
    preg_match_all('/^([^=\n]*interposed[^=\n]*)=>\s*(\d+)/mi', $section[1] ?? '', $m);
    return array_map('intval', $m[2]);
}
/** The writable-after-relocation pages of the interpreter are untouched while nothing is patched. */
function dirty(): string
{
    return preg_match('/^[^\n]*r-[-x]p[^\n]*libc\.so[^\n]*$/m', file_get_contents('/proc/self/maps'), $m) ? 'mapped' : 'none';
}

$before = interposed();
Async\suspend();
Async\timeout(5);
usleep(1000);
$still = interposed();
Async\await(Async\spawn(fn() => usleep(1000)));
$after = interposed();
T\check('told', count($before) > 0, $before);
T\check('zero before', array_sum($before) === 0 && array_sum($still) === 0, [$before, $still]);
T\check('many after', max([0, ...$after]) >= 30, $after);
?>
--EXPECT--
told: yes
zero before: yes
many after: yes
