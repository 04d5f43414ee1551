<?php
namespace Matrix;

#[\Attribute]
final class Mark
{
    public function __construct(public mixed $x) { pause(); }
}
#[Mark(1)]
final class Marked
{
    public function __construct(private mixed $x = 0) { pause(); }
    public function __invoke(mixed ...$all): array { pause(); return [$this->x, $all]; }
    public function __toString(): string { pause(); return 'x'; }
    public static function f(int $n = 1): int { pause(); return $n; }
}
check('ReflectionMethod::invoke', static fn($m, int $n) => $m->invoke(new Marked($n), $n), static fn() => new \ReflectionMethod(Marked::class, '__invoke'), in: 'ReflectionMethod::invoke');
check('ReflectionMethod::invokeArgs', static fn($m, int $n) => $m->invokeArgs(null, [$n]), static fn() => new \ReflectionMethod(Marked::class, 'f'), in: 'ReflectionMethod::invokeArgs');
check('ReflectionFunction::invoke', static fn($f, int $n) => $f->invoke($n), static fn() => new \ReflectionFunction(static function ($n) { pause(); return $n; }), in: 'ReflectionFunction::invoke');
check('ReflectionClass::newInstance', static fn($c, int $n) => $c->newInstance($n), static fn() => new \ReflectionClass(Marked::class), in: 'ReflectionClass::newInstance');
check('ReflectionClass::newInstanceArgs', static fn($c, int $n) => $c->newInstanceArgs(['x' => $n]), static fn() => new \ReflectionClass(Marked::class), in: 'ReflectionClass::newInstanceArgs');
check('ReflectionAttribute::newInstance', static fn($a, int $n) => $a->newInstance(), static fn() => (new \ReflectionClass(Marked::class))->getAttributes()[0], in: 'ReflectionAttribute::newInstance');
check('ReflectionProperty::getValue', static fn($p, int $n) => $p->getValue(new Marked($n)), static fn() => new \ReflectionProperty(Marked::class, 'x'), anywhere: true);
check('ReflectionClass::__construct', static fn($_, int $n) => (new \ReflectionClass(on_demand("const C = $n;")))->getConstants(), in: 'ReflectionClass::__construct');
check('ReflectionParameter::getDefaultValue', static function ($_, int $n) { $class = on_demand("const C = $n;"); $f = eval("return function(\$a = $class::C) {};"); return (new \ReflectionFunction($f))->getParameters()[0]->getDefaultValue(); }, in: 'ReflectionParameter::getDefaultValue');
check('ReflectionClass::getStaticPropertyValue', static function ($_, int $n) { $class = on_demand("const C = $n;"); $that = on_demand("static \$p = $class::C;"); return (new \ReflectionClass($that))->getStaticPropertyValue('p'); }, in: ['ReflectionClass::getStaticPropertyValue', 'ReflectionClass::__construct']);
check('ReflectionProperty::setValue', static function ($_, int $n) { $o = new class { private $p; public $log = []; function __construct() { unset($this->p); } function __set($k, $v) { pause(); $this->log[] = $v; } }; (new \ReflectionProperty($o, 'log'))->setValue($o, [text($n)]); return \array_map(strval(...), $o->log); }, anywhere: true);
check('Reflection::getModifierNames', static fn($_, int $n) => noisily(fn() => \Reflection::getModifierNames($n + 0.5)), in: 'Reflection::getModifierNames');
