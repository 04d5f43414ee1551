<?php
namespace Matrix;

foreach ([Bag::class, OldBag::class] as $class) {
    $texts = [1 => \msgpack_pack(bags(1, $class)), 2 => \msgpack_pack(bags(2, $class))];
    check("writing, $class", static fn($_, int $n) => \bin2hex(\msgpack_pack(bags($n, $class))), in: 'msgpack_pack');
    check("writing, $class in common", static fn($bags, int $n) => \bin2hex(\msgpack_pack([$n, $bags])), static fn() => bags(7, $class), in: 'msgpack_pack');
    check("reading, $class", static fn($_, int $n) => \msgpack_unpack($texts[$n]), in: 'msgpack_unpack');
}
check('reading what is no such thing', static fn($_, int $n) => noisily(fn() => \msgpack_unpack(\substr($texts[$n], 0, -9 * $n))), in: 'msgpack_unpack');
check('reading, of classes on demand', static function ($_, int $n) {
    $class = on_demand('public $a;');
    \class_exists($class);
    $object = new $class;
    $object->a = ["x$n", $object];
    $text = \msgpack_pack([$object, $object]);
    $next = \str_replace('Demand', 'Demend', $class);
    OnDemand::$classes[$next] = "class $next { public \$a; }";
    return \msgpack_unpack(\str_replace($class, $next, $text))[1]->a[0];
}, in: 'msgpack_unpack');
check('MessagePackUnpacker', static fn($u, int $n) => [$u->feed($texts[$n]), $u->execute(), $u->data()], static fn() => new \MessagePackUnpacker, apart: true, in: ['MessagePackUnpacker::execute', 'MessagePackUnpacker::data']);
check('MessagePack::pack', static fn($m, int $n) => \bin2hex($m->pack(bags($n))), static fn() => new \MessagePack, in: 'MessagePack::pack');
