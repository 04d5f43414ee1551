<?php
$a = <<<A
A;
$a = <<<A
  text $x {$y["{$z}"]}
    A . 'x';
  A
  . 1;
$a = <<<"A"
$x  A
Ax
 A1
A;
f(<<<'N'
 $no {$no} \
 N, <<<M
 {$a[<<<I
   inner $x
   I]}
 M);
$e = <<<E

E;
$t = <<< T
	x
	T;
<<<R
$a
R;
<<<C$aC;
<<<S
\
S
x
S;
b<<<B
B;
<<<U_€
x $y
U_€;
<<<Z
A Z
Z2
Z