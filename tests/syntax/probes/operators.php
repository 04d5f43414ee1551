<?php
$a <=> $b <= $c >= $d == $e === $f != $g !== $h <> $i; $a **= $b ** $c <<= $d >>= $e << $f >> $g ??= $h ?? $i ?: $j;
$a &= $b |= $c ^= $d .= $e %= $f && $g || $h & $i | $j ^ $k; $l++ + ++$m - --$n--; $a?->b; $a ?-> b; $a ? ->b : c; $x |> f;
fn(int &...$x) => [...$y]; A::{$x}; a\b; \a\b; namespace\a; namespace \a; a \ b; \ ; \1; a\1; namespace\namespace; Namespace\x; a\; new\x; \new;
yield from x; yield  from x; yield
from $x; yield fromx; yield from; YIELD FROM[]; yield/**/from; yield /* c */ from x; yield // c
from x; yield from