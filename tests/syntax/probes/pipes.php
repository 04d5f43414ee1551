<?php
$a = $b |> strlen(...) |> fn($x) => $x + 1 |> trim(...);
$c = $d|>$e|>$f||$g|>h(...);
$i = $j | > $k;
$l |= $m|>$n;
(void) f(); (VOID)g(); ( void )h(); (void /**/)i();
$o = clone($p, ['q' => 1]); $r = clone $s; clone(...); clone($t, with: []);
const CLOSURES = [static function() { return 1; }, strlen(...)];
$u = new A()->b()->c; $v = new class {}->d(); new E()::F;
#[NoDiscard] function w() {}
class X { final public function __construct(final public int $y, public private(set) static int $z) {} }
