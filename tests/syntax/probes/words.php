<?php
enum A {} enum extends {} enum implements B {} enum(1); enum
B {} enum extendsX {} enum /* c */ C {} enum€ D; Enum E: int {} enum::x; class enum {} $enum; enum=1; enum; enum # c
F {}
$a->class; $a->list->fn; $a?->match; A::class; A::FUNCTION; $a -> /* c */ new; $a->
new; $a-> 1; $a->->b; $a->#[x]
$a->//c
if; $a->b"x"; readonly class X {} readonly(1); public(set) $x; private( set ) $y; protected(SET) $z; __PROPERTY__; __LINE__; __line__; exit; die; __halt_compilerx; fn; fnx;
goto a; declare(ticks=1); list() = []; print print; and or xor AND oR; insteadof; callable; mixed; self parent static;
