--TEST--
SYN-5 async.syntax is chosen when PHP starts: without it sources are PHP's own, as without the extension; the functions stay
--FILE--
<?php
require __DIR__ . '/kit.inc';

echo "-- it cannot be changed while it runs\n";
foreach (['1' => 'return await spawn fn() => "operators";', '0' => 'return await spawn fn() => "operators";'] as $value => $code) {
    echo T\php("var_dump(ini_get('async.syntax'), ini_set('async.syntax', '" . (1 - $value) . "'), ini_get('async.syntax')); try { echo eval(" . var_export($code, true) . "); } catch (ParseError \$e) { echo \$e->getMessage(); }", "-d async.syntax=$value"), "\n";
}
foreach (['1', 'On', 'yes', 'true', '0', 'Off', 'no', 'none', '', '2'] as $value) {
    echo "'$value': ", T\php('try { echo eval("return await spawn fn() => \"on\";"); } catch (ParseError) { echo "off"; }', "-d async.syntax=$value"), "\n";
}
echo T\command(T\interpreter() . ' -r ' . escapeshellarg('foreach (ini_get_all("spindle") as $name => $ini) if ($name === "async.syntax") echo json_encode($ini);')), "\n";

echo "-- the same as without the extension\n";
$sources = [
    'await $x;', 'spawn f();', 'spawn function { };', 'suspend;', 'const suspend = 1; var_dump(suspend);', 'function await($x) { return $x; } echo await(5);', '$x = function { };', 'f(function use ($x) { });', 'await', "\n\nspawn 1;", 'class spawn { const await = 1; function suspend() { return self::await; } } echo (new spawn)->suspend();', 'await $x until $y;', 'await children;', 'function f(await $x, ?suspend $y = null) {} echo "types";', 'enum spawn { case await; } var_dump(spawn::await);', '$f = fn(int $until) => $until; echo $f(until: 5);', 'goto await; await: echo "label";', "echo <<<A\n  await \$x\n  A;", 'spawn: echo 1; suspend: echo 2;', '#spawn f()',
];
T\work_in();
$same = 0;
foreach ($sources as $i => $source) {
    file_put_contents("$i.php", "<?php\n$source");
    [$off, $plain] = [T\command(T\interpreter('-d async.syntax=0') . " $i.php"), T\command(without() . " $i.php")];
    if ((string) $off === (string) $plain) $same++;
    else echo "$source: $off / $plain\n";
}
echo "$same of ", count($sources), "\n";
echo T\php('echo Async\await(Async\spawn(fn() => "functions")), " ", Async\await(Async\Syntax\call(strrev(...))("redniheb"));', '-d async.syntax=0'), "\n";
// what the operators become is code without them
echo T\php('$x = "x"; $f = function() use (&$x) { $x .= "y"; }; \Async\await(\Async\Syntax\call($f(...))()); echo $x, \Async\Syntax\call(null)?->__invoke(exit(5));', '-d async.syntax=0'), "\n";
?>
--EXPECT--
-- it cannot be changed while it runs
[0] string(1) "1"
bool(false)
string(1) "1"
operators
[0] string(1) "0"
bool(false)
string(1) "0"
syntax error, unexpected identifier "spawn", expecting ";"
'1': [0] on
'On': [0] on
'yes': [0] on
'true': [0] on
'0': [0] off
'Off': [0] off
'no': [0] off
'none': [0] off
'': [0] off
'2': [0] on
[0] {"global_value":"1","local_value":"1","access":4}
-- the same as without the extension
20 of 20
[0] functions behinder
[0] xy
