<?php
namespace Matrix;

check('trigger_error', static fn($_, int $n) => noisily(fn() => \trigger_error("message $n", E_USER_WARNING)), in: 'trigger_error');
check('class_exists', static fn($_, int $n) => \class_exists(on_demand()), in: 'class_exists');
check('is_subclass_of', static fn($_, int $n) => \is_subclass_of(on_demand(is: 'extends ArrayObject'), 'ArrayObject'), in: 'is_subclass_of');
check('is_a', static fn($_, int $n) => \is_a(on_demand(is: 'extends ArrayObject'), 'Countable', true), in: 'is_a');
check('method_exists', static fn($_, int $n) => \method_exists(on_demand('function f() {}'), 'f'), in: 'method_exists');
check('property_exists', static fn($_, int $n) => \property_exists(on_demand('public $p;'), 'p'), in: 'property_exists');
check('get_class_methods', static fn($_, int $n) => \get_class_methods(on_demand('function f() {} private function g() {}')), in: 'get_class_methods');
check('get_class_vars', static fn($_, int $n) => \get_class_vars(on_demand("public \$p = $n;")), in: 'get_class_vars');
check('get_parent_class', static fn($_, int $n) => \get_parent_class(on_demand(is: 'extends ArrayObject')), in: 'get_parent_class');
check('class_alias', static fn($_, int $n) => \class_alias(on_demand(), "Alias$n" . \bin2hex(\random_bytes(4))), in: 'class_alias');
check('define', static fn($_, int $n) => noisily(fn() => \define('PHP_VERSION', $n)), in: 'define');
check('strcmp', static fn($_, int $n) => \strcmp(text("a$n"), text('b')), in: 'strcmp');
check('strncasecmp', static fn($_, int $n) => noisily(fn() => \strncasecmp(text("a$n"), text('B'), 1.5)), in: 'strncasecmp');
check('error_reporting', static fn($_, int $n) => noisily(fn() => \error_reporting(E_ALL + 0.5)), in: 'error_reporting');
check('set_error_handler', static function ($_, int $n) { $old = \set_error_handler([on_demand('static function f() {}'), 'f']); \restore_error_handler(); return $old; }, in: 'set_error_handler');
check('func_get_args', static fn($_, int $n) => (static function () { return \array_map(strval(...), \func_get_args()); })(text($n)), anywhere: true);
check('debug_print_backtrace', static fn($_, int $n) => \strlen(\preg_replace('/\d+/', '', printed(static fn() => \debug_print_backtrace(0, 2))[1])) > 10, in: 'debug_print_backtrace');
check('get_object_vars, with a destructor', static function ($_, int $n) {
    $object = new class($n) { public $inner; function __construct(public int $n) { $this->inner = new class { function __destruct() { pause(); } }; } };
    $object->inner = null;
    return \get_object_vars($object);
}, anywhere: true);
check('Closure', static fn($_, int $n) => \Closure::fromCallable([on_demand('static function f($x) { return $x; }'), 'f'])($n), in: 'Closure::fromCallable');
check('Closure::call', static fn($closure, int $n) => $closure->call(new Bag($n), $n), static fn() => function ($x) { pause(); return [$this->content, $x]; }, in: 'Closure::call');
check('Closure::bind', static fn($_, int $n) => noisily(fn() => \Closure::bind(fn() => 1, null, on_demand())()), in: 'Closure::bind');
check('Generator', static fn($_, int $n) => \iterator_to_array((static function () use ($n) { pause(); yield $n; pause(); yield from [1, 2]; })(), false), in: ['Generator::next', 'iterator_to_array']);
check('Generator::send', static function ($_, int $n) { $g = (static function () { while (true) { pause(); $x = yield ($x ?? 0); } })(); $g->current(); return [$g->send($n), $g->send("x$n")]; }, in: ['Generator::send', 'Generator::current']);
check('Fiber', static function ($_, int $n) {
    $fiber = new \Fiber(static function ($x) { pause(); $y = \Fiber::suspend($x + 1); pause(); return $y . 'z'; });
    return [$fiber->start($n), $fiber->resume("y$n"), $fiber->getReturn()];
}, in: ['Fiber::start', 'Fiber::resume']);
check('WeakMap', static function ($map, int $n) { $key = new class { function __destruct() { pause(); } }; $map[$key] = $n; unset($key); return \count($map) <= 2; }, static fn() => new \WeakMap, anywhere: true);
check('stdClass and operators', static fn($_, int $n) => noisily(fn() => "text $n" . [] . (string) text($n)), anywhere: true);
check('ArrayAccess', static fn($object, int $n) => [$object[$n], isset($object[$n])], static fn() => new class implements \ArrayAccess {
    function offsetExists(mixed $offset): bool { pause(); return true; }
    function offsetGet(mixed $offset): mixed { pause(); return "value $offset"; }
    function offsetSet(mixed $offset, mixed $value): void {}
    function offsetUnset(mixed $offset): void {}
}, anywhere: true);
check('IteratorAggregate', static function ($object, int $n) { foreach ($object as $key => $value) $all[$key] = $value . $n; return $all; }, static fn() => new class implements \IteratorAggregate { function getIterator(): \Iterator { pause(); return new Items(['a', 'b']); } }, anywhere: true);
