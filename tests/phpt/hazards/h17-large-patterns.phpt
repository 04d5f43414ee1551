--TEST--
H17 matches that are suspended in a callback keep what they have matched, beside one with more groups than usual
--FILE--
<?php
use function Async\{await, spawn, suspend};

require __DIR__ . '/kit.inc';

$goes_on = [];
function replaces(string $name, string $pattern, string $text): string
{
    return preg_replace_callback($pattern, function($m) use ($name) {
        while (!isset($GLOBALS['goes_on'][$name])) suspend();
        return "<$m[0]>";
    }, $text);
}
$large = spawn(replaces(...), 'large', '/' . str_repeat('(a)?', 40) . 'x/', 'ax.x');
T\begun($large);
$small = spawn(replaces(...), 'small', '/(\w)(\d)/', 'a1 b2, and c3');
T\begun($small);
$goes_on['large'] = true;
echo await($large), "\n";
T\ended(spawn(fn() => null)); // the small one may begin now
$third = spawn(replaces(...), 'third', '/..../', 'quite another text');
$goes_on['third'] = true;
echo await($third), "\n";
$goes_on['small'] = true;
echo await($small), "\n";
?>
--EXPECT--
<ax>.<x>
<quit><e an><othe><r te>xt
<a1> <b2>, and <c3>
