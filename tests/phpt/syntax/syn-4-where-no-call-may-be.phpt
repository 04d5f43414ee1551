--TEST--
SYN-4 where PHP allows no call, and no result of one, an operator is the same compile error
--FILE--
<?php
require __DIR__ . '/kit.inc';

T\work_in();
foreach ([
    'const X = @;', 'class A { const X = @; }', 'class A { public $x = @; }', 'class A { static $x = @; }', 'function f($x = @) {}', 'fn($x = @) => 1;', 'class A { function __construct(private $x = @) {} }', '#[A(@)] function f() {}', '#[A(@)] class A {}', 'enum E: int { case X = @; }', 'declare(ticks=@);',
    'unset(@);', 'isset(@);', '[@] = [1];', 'foreach ([1] as $k => [@]) {}', 'break @;', 'switch (1) { case 1: continue @; }', 'function f(): never { return @; }', '(function (): void { return @; })();',
] as $code) {
    $said = [];
    foreach (['call()', 'await $x', 'spawn f()'] as $expression) {
        file_put_contents('source.php', "<?php\n\n" . str_replace('@', $expression, $code));
        $said[trim(short(T\command(T\interpreter() . ' source.php')))][] = $expression;
    }
    echo "$code\n    ", count($said) === 1 ? array_key_first($said) : json_encode($said), "\n";
}
?>
--EXPECT--
const X = @;
    [255] 
Fatal error: Constant expression contains invalid operations in source.php on line 3
class A { const X = @; }
    [255] 
Fatal error: Constant expression contains invalid operations in source.php on line 3
class A { public $x = @; }
    [255] 
Fatal error: Constant expression contains invalid operations in source.php on line 3
class A { static $x = @; }
    [255] 
Fatal error: Constant expression contains invalid operations in source.php on line 3
function f($x = @) {}
    [255] 
Fatal error: Constant expression contains invalid operations in source.php on line 3
fn($x = @) => 1;
    [255] 
Fatal error: Constant expression contains invalid operations in source.php on line 3
class A { function __construct(private $x = @) {} }
    [255] 
Fatal error: Constant expression contains invalid operations in source.php on line 3
#[A(@)] function f() {}
    [255] 
Fatal error: Constant expression contains invalid operations in source.php on line 3
#[A(@)] class A {}
    [255] 
Fatal error: Constant expression contains invalid operations in source.php on line 3
enum E: int { case X = @; }
    [255] 
Fatal error: Constant expression contains invalid operations in source.php on line 3
declare(ticks=@);
    [255] 
Fatal error: declare(ticks) value must be a literal in source.php on line 3
unset(@);
    [255] 
Fatal error: Can't use function return value in write context in source.php on line 3
isset(@);
    [255] 
Fatal error: Cannot use isset() on the result of an expression (you can use "null !== expression" instead) in source.php on line 3
[@] = [1];
    [255] 
Fatal error: Can't use function return value in write context in source.php on line 3
foreach ([1] as $k => [@]) {}
    [255] 
Fatal error: Can't use function return value in write context in source.php on line 3
break @;
    [255] 
Fatal error: 'break' operator with non-integer operand is no longer supported in source.php on line 3
switch (1) { case 1: continue @; }
    [255] 
Fatal error: 'continue' operator with non-integer operand is no longer supported in source.php on line 3
function f(): never { return @; }
    [255] 
Fatal error: A never-returning function must not return in source.php on line 3
(function (): void { return @; })();
    [255] 
Fatal error: A void function must not return a value in source.php on line 3
