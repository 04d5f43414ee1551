--TEST--
SYN-4 each wrong use of an operator, as the script itself, included and evaluated: message, file, line, status; no word of it is not the user's
--FILE--
<?php
require __DIR__ . '/kit.inc';

T\work_in();
$bad = [
    // spawn wants a call or a closure
    'spawn 1 + 2;', 'spawn $x;', 'spawn f(...);', 'spawn $x->f(...);', 'spawn $x?->f(...);', 'spawn new X;', 'spawn new X();', 'spawn $x->y;', 'spawn X::Y;', 'spawn X::$y;', 'spawn $a[1];', 'spawn "x";', 'spawn "x$y";', 'spawn `ls`;', 'spawn !f();', 'spawn @f();', 'spawn (int) f();', 'spawn clone $x;', 'spawn print 1;', 'spawn echo 1;', 'spawn include "x";', 'spawn exit();', 'spawn isset($x);', 'spawn empty($x);', 'spawn list($x) = [1];', 'spawn array();', 'spawn eval("1");', 'spawn match(1) {};', 'spawn throw new X;', 'spawn yield;', 'spawn f()++;', 'spawn $x = f();', 'spawn static $x;', 'spawn static;', 'spawn A\\;', 'spawn namespace\\f;', 'spawn await $x;', 'spawn await $x();', 'spawn spawn f();', 'spawn $a?->b;', 'spawn $a?->{$b};', 'spawn $a?->b()?->c;', 'spawn #[A] f();', 'await spawn $x;', 'f(spawn $x);', '$y = [spawn $x];', '"{$f(spawn $x)}";', 'fn() => spawn $x;',
    // operands that are not there
    'await $x until;', 'await $x until ;', '$y = await $x until', 'await children until;', 'await )', 'await spawn', 'spawn $x->;', 'spawn X::;', 'spawn parent::;', 'spawn $a?->;', 'spawn fn() => ;', 'spawn fn() =>', 'spawn fn', 'spawn function', 'spawn static fn', 'spawn \\;', 'await new', 'await !', 'await -', 'await $x ?', 'await $x ? 1 :', 'await $x ??', 'await $x = ;', 'await foreach ($x as $y) {}', 'await if (1) {}',
    // something is there that is too much
    'await $x $y;', 'await $x until $y $z;', 'await $x until $y until $z;', 'await children $x;', 'spawn f() g();', 'spawn f() until $x;', 'spawn f(a b);', 'spawn f(1 2);', 'spawn f(, );', 'spawn f(a: );', 'suspend $x;', 'suspend 1;', 'class X { spawn f(); }', 'foreach (await $x as) {}', '$x instanceof await $y;', 'global await;', 'spawn function { $x = ; };', 'spawn function { spawn 5; };',
    // brackets
    'spawn f(', 'spawn f(1', 'spawn f(1]', 'spawn f(1}', 'spawn $a[1', 'spawn $a[1)();', 'spawn {', 'spawn function {', 'spawn function { echo 1;', 'spawn function use (', 'spawn function use ($x', 'spawn function(', 'spawn fn(', 'spawn #[A', 'spawn f(function {', 'f(function {', 'function {', 'await {', 'await ${', 'await (', 'await (1', 'await [1', 'await $x[', 'spawn $a?->{$b(', 'spawn $a?->{$b}(', 'spawn f())', 'spawn f()]', 'spawn function { } }', '{ spawn f(); ', 'if (await $x) {', 'class X { function x() { spawn f( } }', 'spawn f(await spawn g(await spawn h());', 'spawn f(;', 'spawn $a?->b(;',
    // ends of the file
    'spawn', 'await', 'suspend', 'await $x', 'spawn f()', 'spawn f() + 1', 'await $a until await', 'await $a until spawn', 'await await', 'await yield', 'await function', 'spawn function: int', 'spawn fn(): int', 'await X::', 'await $$', 'echo await', 'return spawn',
    // over several lines
    "\n\nspawn f(\n\n", "spawn\n\n5;", "\$x = await\n\$y\n\nuntil\n\n;", "spawn function\n{\n\n", "spawn f(\n  1,\n  2\n;", "await\n  // spawn\n  \$x\n\$y;",
];
$inside = function (callable $do, string $file) {
    try {
        $do();
        return 'no error';
    } catch (ParseError $e) {
        return $e->getMessage() . ' on line ' . $e->getLine() . ($e->getFile() === $file ? '' : " in {$e->getFile()}");
    }
};
foreach ($bad as $i => $code) {
    file_put_contents('bad.php', "<?php\necho 'not printed';\n$code");
    $included = $inside(fn() => include 'bad.php', getcwd() . '/bad.php');
    $evaluated = $inside(fn() => eval("echo 'not printed';\n\n$code"), __FILE__ . '(' . __LINE__ . ") : eval()'d code");
    echo str_pad(addcslashes($code, "\n"), 40), $included, "\n";
    if ($evaluated !== $included) echo "    evaluated: $evaluated\n";
    if (preg_match('~async|__invoke|\bcall\b~i', strtr($included, ['spawn expects a call' => '']))) echo "    NOT THE USER'S WORDS\n";
    // each twentieth in a process of its own
    if ($i % 20 === 0) {
        $as_script = short(T\command(T\interpreter() . ' bad.php'));
        if ($as_script !== "[255] \nParse error: " . strtr($included, [' on line ' => ' in bad.php on line ']) . "\n") echo "    as the script: $as_script\n";
    }
}
?>
--EXPECTF--
spawn 1 + 2;                            syntax error, unexpected integer "1": spawn expects a call or a closure on line 3
spawn $x;                               syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn f(...);                           syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn $x->f(...);                       syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn $x?->f(...);                      syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn new X;                            syntax error, unexpected token "new": spawn expects a call or a closure on line 3
spawn new X();                          syntax error, unexpected token "new": spawn expects a call or a closure on line 3
spawn $x->y;                            syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn X::Y;                             syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn X::$y;                            syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn $a[1];                            syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn "x";                              syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn "x$y";                            syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn `ls`;                             syntax error, unexpected token "`": spawn expects a call or a closure on line 3
spawn !f();                             syntax error, unexpected token "!": spawn expects a call or a closure on line 3
spawn @f();                             syntax error, unexpected token "@": spawn expects a call or a closure on line 3
spawn (int) f();                        syntax error, unexpected token "(int)": spawn expects a call or a closure on line 3
spawn clone $x;                         syntax error, unexpected token "clone": spawn expects a call or a closure on line 3
spawn print 1;                          syntax error, unexpected token "print": spawn expects a call or a closure on line 3
spawn echo 1;                           syntax error, unexpected token "echo" on line 3
spawn include "x";                      syntax error, unexpected token "include": spawn expects a call or a closure on line 3
spawn exit();                           syntax error, unexpected token "exit": spawn expects a call or a closure on line 3
spawn isset($x);                        syntax error, unexpected token "isset": spawn expects a call or a closure on line 3
spawn empty($x);                        syntax error, unexpected token "empty": spawn expects a call or a closure on line 3
spawn list($x) = [1];                   syntax error, unexpected token "list": spawn expects a call or a closure on line 3
spawn array();                          syntax error, unexpected token "array": spawn expects a call or a closure on line 3
spawn eval("1");                        syntax error, unexpected token "eval": spawn expects a call or a closure on line 3
spawn match(1) {};                      syntax error, unexpected token "match": spawn expects a call or a closure on line 3
spawn throw new X;                      syntax error, unexpected token "throw": spawn expects a call or a closure on line 3
spawn yield;                            syntax error, unexpected token "yield": spawn expects a call or a closure on line 3
spawn f()++;                            syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn $x = f();                         syntax error, unexpected token "=": spawn expects a call or a closure on line 3
spawn static $x;                        syntax error, unexpected token "static": spawn expects a call or a closure on line 3
spawn static;                           syntax error, unexpected token "static": spawn expects a call or a closure on line 3
spawn A\;                               syntax error, unexpected token "\": spawn expects a call or a closure on line 3
spawn namespace\f;                      syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn await $x;                         syntax error, unexpected identifier "await": spawn expects a call or a closure on line 3
spawn await $x();                       syntax error, unexpected identifier "await": spawn expects a call or a closure on line 3
spawn spawn f();                        syntax error, unexpected identifier "spawn": spawn expects a call or a closure on line 3
spawn $a?->b;                           syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn $a?->{$b};                        syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn $a?->b()?->c;                     syntax error, unexpected token ";": spawn expects a call or a closure on line 3
spawn #[A] f();                         syntax error, unexpected identifier "f": spawn expects a call or a closure on line 3
await spawn $x;                         syntax error, unexpected token ";": spawn expects a call or a closure on line 3
f(spawn $x);                            syntax error, unexpected token ")": spawn expects a call or a closure on line 3
$y = [spawn $x];                        syntax error, unexpected token "]": spawn expects a call or a closure on line 3
"{$f(spawn $x)}";                       syntax error, unexpected token ")": spawn expects a call or a closure on line 3
fn() => spawn $x;                       syntax error, unexpected token ";": spawn expects a call or a closure on line 3
await $x until;                         syntax error, unexpected token ";" on line 3
await $x until ;                        syntax error, unexpected token ";" on line 3
$y = await $x until                     syntax error, unexpected end of file on line 3
await children until;                   syntax error, unexpected token ";" on line 3
await )                                 Unmatched ')' on line 3
await spawn                             syntax error, unexpected end of file on line 3
spawn $x->;                             syntax error, unexpected token ";" on line 3
spawn X::;                              syntax error, unexpected token ";" on line 3
spawn parent::;                         syntax error, unexpected token ";" on line 3
spawn $a?->;                            syntax error, unexpected token ";" on line 3
spawn fn() => ;                         syntax error, unexpected token ";" on line 3
spawn fn() =>                           syntax error, unexpected end of file on line 3
spawn fn                                syntax error, unexpected end of file on line 3
spawn function                          syntax error, unexpected end of file on line 3
spawn static fn                         syntax error, unexpected end of file on line 3
spawn \;                                syntax error, unexpected token "\" on line 3
await new                               syntax error, unexpected end of file on line 3
await !                                 syntax error, unexpected end of file on line 3
await -                                 syntax error, unexpected end of file on line 3
await $x ?                              syntax error, unexpected end of file on line 3
await $x ? 1 :                          syntax error, unexpected end of file on line 3
await $x ??                             syntax error, unexpected end of file on line 3
await $x = ;                            syntax error, unexpected token ";" on line 3
await foreach ($x as $y) {}             syntax error, unexpected token "foreach" on line 3
await if (1) {}                         syntax error, unexpected token "if" on line 3
await $x $y;                            syntax error, unexpected variable "$y" on line 3
await $x until $y $z;                   syntax error, unexpected variable "$z" on line 3
await $x until $y until $z;             syntax error, unexpected identifier "until" on line 3
await children $x;                      syntax error, unexpected variable "$x" on line 3
spawn f() g();                          syntax error, unexpected identifier "g" on line 3
spawn f() until $x;                     syntax error, unexpected identifier "until" on line 3
spawn f(a b);                           syntax error, unexpected identifier "b", expecting ")" on line 3
spawn f(1 2);                           syntax error, unexpected integer "2", expecting ")" on line 3
spawn f(, );                            syntax error, unexpected token "," on line 3
spawn f(a: );                           syntax error, unexpected token ")" on line 3
suspend $x;                             syntax error, unexpected variable "$x" on line 3
suspend 1;                              syntax error, unexpected integer "1" on line 3
class X { spawn f(); }                  syntax error, unexpected identifier "spawn", expecting "function"%r( or "const")?%r on line 3
foreach (await $x as) {}                syntax error, unexpected token ")" on line 3
$x instanceof await $y;                 syntax error, unexpected variable "$y" on line 3
global await;                           syntax error, unexpected identifier "await", expecting variable or "$" on line 3
spawn function { $x = ; };              syntax error, unexpected token ";" on line 3
spawn function { spawn 5; };            syntax error, unexpected integer "5": spawn expects a call or a closure on line 3
spawn f(                                Unclosed '(' on line 3
spawn f(1                               Unclosed '(' on line 3
spawn f(1]                              Unclosed '(' does not match ']' on line 3
spawn f(1}                              Unclosed '(' does not match '}' on line 3
spawn $a[1                              Unclosed '[' on line 3
spawn $a[1)();                          Unclosed '[' does not match ')' on line 3
spawn {                                 %r(Unclosed '{'|syntax error, unexpected token "{")%r on line 3
spawn function {                        Unclosed '{' on line 3
spawn function { echo 1;                Unclosed '{' on line 3
spawn function use (                    Unclosed '(' on line 3
spawn function use ($x                  Unclosed '(' on line 3
spawn function(                         Unclosed '(' on line 3
spawn fn(                               Unclosed '(' on line 3
spawn #[A                               Unclosed '[' on line 3
spawn f(function {                      Unclosed '{' on line 3
f(function {                            syntax error, unexpected token "{", expecting "(" on line 3
function {                              syntax error, unexpected token "{", expecting "(" on line 3
await {                                 %r(Unclosed '{'|syntax error, unexpected token "{")%r on line 3
await ${                                Unclosed '{' on line 3
await (                                 Unclosed '(' on line 3
await (1                                Unclosed '(' on line 3
await [1                                Unclosed '[' on line 3
await $x[                               Unclosed '[' on line 3
spawn $a?->{$b(                         Unclosed '(' on line 3
spawn $a?->{$b}(                        Unclosed '(' on line 3
spawn f())                              Unmatched ')' on line 3
spawn f()]                              Unmatched ']' on line 3
spawn function { } }                    Unmatched '}' on line 3
{ spawn f();                            Unclosed '{' on line 3
if (await $x) {                         Unclosed '{' on line 3
class X { function x() { spawn f( } }   Unclosed '(' does not match '}' on line 3
spawn f(await spawn g(await spawn h()); syntax error, unexpected token ";", expecting ")" on line 3
spawn f(;                               syntax error, unexpected token ";" on line 3
spawn $a?->b(;                          syntax error, unexpected token ";" on line 3
spawn                                   syntax error, unexpected end of file on line 3
await                                   syntax error, unexpected end of file on line 3
suspend                                 syntax error, unexpected end of file on line 3
await $x                                syntax error, unexpected end of file on line 3
spawn f()                               syntax error, unexpected end of file on line 3
spawn f() + 1                           syntax error, unexpected end of file on line 3
await $a until await                    syntax error, unexpected end of file on line 3
await $a until spawn                    syntax error, unexpected end of file on line 3
await await                             syntax error, unexpected end of file on line 3
await yield                             syntax error, unexpected end of file on line 3
await function                          syntax error, unexpected end of file on line 3
spawn function: int                     syntax error, unexpected end of file on line 3
spawn fn(): int                         syntax error, unexpected end of file on line 3
await X::                               syntax error, unexpected end of file on line 3
await $$                                syntax error, unexpected end of file on line 3
echo await                              syntax error, unexpected end of file, expecting "," or ";" on line 3
return spawn                            syntax error, unexpected end of file, expecting ";" on line 3
\n\nspawn f(\n\n                        Unclosed '(' on line 5 on line 7
spawn\n\n5;                             syntax error, unexpected integer "5": spawn expects a call or a closure on line 5
$x = await\n$y\n\nuntil\n\n;            syntax error, unexpected token ";" on line 8
spawn function\n{\n\n                   Unclosed '{' on line 4 on line 6
spawn f(\n  1,\n  2\n;                  syntax error, unexpected token ";", expecting ")" on line 6
await\n  // spawn\n  $x\n$y;            syntax error, unexpected variable "$y" on line 6
