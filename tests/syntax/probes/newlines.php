<?php
$a;$b;
$c;
// d
/* e */ "f
$g" ?>

<?php
