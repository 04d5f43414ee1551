<?php
(int)$a; ( int )$a; (	integer	)$a; (INT) $a; (double)(float)(string)(binary)(array)(object)(bool)(boolean)(unset)$a; (real)$a;
(
int
)$a; (int /* c */)$a; (integers)$a; (in)$a; (void)$a; (int; f(int); (string)
