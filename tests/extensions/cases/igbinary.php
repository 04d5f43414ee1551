<?php
namespace Matrix;

foreach ([Bag::class, OldBag::class] as $class) {
    $texts = [1 => \igbinary_serialize(bags(1, $class)), 2 => \igbinary_serialize(bags(2, $class))];
    check("writing, $class", static fn($_, int $n) => \bin2hex(\igbinary_serialize(bags($n, $class))), in: 'igbinary_serialize');
    check("writing, $class in common", static fn($bags, int $n) => \bin2hex(\igbinary_serialize([$n, $bags])), static fn() => bags(7, $class), in: 'igbinary_serialize');
    check("reading, $class", static fn($_, int $n) => \igbinary_unserialize($texts[$n]), in: 'igbinary_unserialize');
}
check('reading what is no such thing', static fn($_, int $n) => noisily(fn() => \igbinary_unserialize(\substr($texts[$n], 0, -9 * $n))), in: 'igbinary_unserialize');
check('reading, of classes on demand', static function ($_, int $n) {
    $class = on_demand('public $a;');
    \class_exists($class);
    $object = new $class;
    $object->a = ["x$n", $object];
    $text = \igbinary_serialize([$object, $object]);
    $next = \str_replace('Demand', 'Demend', $class);
    OnDemand::$classes[$next] = "class $next { public \$a; }";
    return \igbinary_unserialize(\str_replace($class, $next, $text))[1]->a[0];
}, in: 'igbinary_unserialize');
