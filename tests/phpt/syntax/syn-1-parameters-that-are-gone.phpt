--TEST--
SYN-1 named arguments and references reach the parameters of the function that is called, where those of one that is gone lay
--FILE--
<?php
function call(Closure $f, int &$x): array
{
    // One call site, whose caches know the function by its address.
    return await spawn $f(second: 2, first: $x);
}

foreach (range(1, 200) as $i) {
    [$first, $second] = $i % 2 ? ['$first', '$second'] : ['$second', '$first'];
    $by_reference = $i % 3 === 0 && $i % 2 === 1;
    $first = ($by_reference ? '&' : '') . $first;
    $f = eval("return static function ($first, $second): array { \$first *= 10; \$second *= 10; return [\$first, \$second]; };");
    $x = 1;
    $got = call($f, $x);
    if ($got !== [10, 20] || $x !== ($by_reference ? 10 : 1)) {
        echo "$i: ", json_encode($got), " $x\n";
    }
    unset($f);
}
echo "done\n";
?>
--EXPECT--
done
