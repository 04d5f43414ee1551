--TEST--
A fiber that is never started
--FILE--
<?php
require __DIR__ . '/loop.inc';

// fiber not started is destroyed
$f = Fiber::create(function () { echo "WRONG\n"; });
unset($f);
$q = new Queue; $q->fiber(function () { echo "WRONG\n"; });
echo "end\n";
?>
--EXPECT--
end
