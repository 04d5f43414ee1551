<?php
/**
 * The features: what PHP code does while it waits. Each takes a job and closures, its parts, which take the job and may wait, throw
 * and say something. What it returns depends on nothing else. A name of a function is that of the feature in a program.
 */
declare(strict_types=1);

namespace Compositions\Feature;

use Compositions\{Job, OtherThrown, Thrown};
use function Compositions\{plain, together, w};

// --- values -----------------------------------------------------------------------------------------------------------

function number(Job $j) { w($j); return $j->draw(100); }
function text(Job $j) { w($j); return \str_repeat(\chr(97 + $j->draw(26)), $j->draw(9)); }
function nothing(Job $j) { w($j); return null; }
function fraction(Job $j) { w($j); return $j->draw(1000) / 8; }
function items(Job $j) { w($j); return ['a' => $j->draw(9), 'b' => [$j->draw(9)], 3 => 'é']; }
function object(Job $j) { w($j); $o = new \stdClass(); $o->n = $j->draw(9); return $o; }
function large(Job $j) { w($j); return \strlen(\str_repeat(\range('a', 'z')[$j->draw(26)], 100_000 + $j->draw(9))); }
function said(Job $j) { $j->say('before'); w($j); $j->say('after'); return 'said'; }
function printed(Job $j) { echo '<', $j->draw(9); w($j); \printf('%05.1f|', 1.25); print '>'; return 'printed'; }
function warned(Job $j) { w($j); return @$undefined . \intdiv(7, 2) . \hex2bin('0') . ($j->said[-1] ?? ''); }
function undefined(Job $j) { w($j); return [$missing, $j->draw(3)]; }
function deprecated(Job $j) { w($j); return \trigger_error('old ' . $j->draw(9), E_USER_DEPRECATED); }

// --- failures ---------------------------------------------------------------------------------------------------------

function throws(Job $j) { w($j); throw new Thrown('thrown ' . $j->draw(9)); }
function throws_other(Job $j) { w($j); throw new OtherThrown('other ' . $j->draw(9)); }
function fails(Job $j) { w($j); return \strlen([]); }
function divides(Job $j) { w($j); return 1 % ($j->draw(2)); }
function rethrows(Job $j, \Closure $a) { try { return $a($j); } catch (Thrown $e) { w($j); throw new OtherThrown('again', 3, $e); } }
function catches(Job $j, \Closure $a) { try { return ['kept', $a($j)]; } catch (Thrown $e) { w($j); return 'caught ' . $e->getMessage(); } }
function catches_some(Job $j, \Closure $a, \Closure $b) { try { return $a($j); } catch (OtherThrown|\TypeError $e) { return [$e::class, $b($j)]; } }
function finally_does(Job $j, \Closure $a, \Closure $b) { try { return $a($j); } finally { w($j); $j->say('finally ' . \json_encode(plain($b($j)))); } }
function finally_returns(Job $j, \Closure $a) { try { return $a($j); } finally { w($j); return 'instead'; } }
function nested_finally(Job $j, \Closure $a)
{
    foreach ([1, 2, 3] as $n) {
        try { try { w($j); if ($n === 2) continue; $a($j); } finally { $j->say("inner $n"); w($j); } } catch (Thrown) { $j->say("caught $n"); } finally { $j->say("outer $n"); }
    }
    return 'through';
}
function destructs(Job $j, \Closure $a)
{
    $o = new class($j) { public function __construct(private Job $j) {} public function __destruct() { w($this->j); $this->j->say('destructed'); } };
    $value = $a($j);
    unset($o);
    return [$value];
}
function destructor_throws(Job $j, \Closure $a)
{
    $o = new class($j, $a) { public function __construct(private Job $j, private \Closure $a) {} public function __destruct() { ($this->a)($this->j); } };
    try { $o = null; return 'quietly'; } catch (Thrown $e) { return 'by the destructor: ' . $e->getMessage(); }
}
function unwound(Job $j, \Closure $a)
{
    $o = new class($j) { public function __construct(private Job $j) {} public function __destruct() { w($this->j); $this->j->say('unwound'); } };
    return [$a($j), $o::class !== ''];
}

// --- calls ------------------------------------------------------------------------------------------------------------

function mapped(Job $j, \Closure $a) { return \array_map(static fn ($x) => [$x, $a($j)], [1, 2]); }
function filtered(Job $j, \Closure $a) { return \array_filter(['x' => 1, 'y' => 2, 'z' => 3], static function ($v, $k) use ($j, $a) { $a($j); return $v !== 2; }, ARRAY_FILTER_USE_BOTH); }
function reduced(Job $j, \Closure $a) { return \array_reduce([1, 2, 3], static fn ($sum, $x) => $sum . $x . \json_encode(plain($a($j))), ''); }
function walked(Job $j, \Closure $a) { $array = ['p' => 1, 'q' => ['r' => 2]]; \array_walk_recursive($array, static function (&$v, $k) use ($j, $a) { $v = [$k, $v, $a($j)]; }); return $array; }
function sorted(Job $j, \Closure $a) { $array = [3, 1, 2]; \usort($array, static function ($x, $y) use ($j, $a) { $a($j); return $x <=> $y; }); return $array; }
function sorted_by_keys(Job $j, \Closure $a) { $array = ['c' => 1, 'a' => 2]; \uksort($array, static function ($x, $y) use ($j, $a) { $a($j); return \strcmp((string) $x, (string) $y); }); return $array; }
function differing(Job $j, \Closure $a) { return \array_udiff([1, 2, 3], [2], static function ($x, $y) use ($j, $a) { $a($j); return $x <=> $y; }); }
function intersecting(Job $j, \Closure $a) { return \array_uintersect(['a' => 'X', 'b' => 'y'], ['x'], static function ($x, $y) use ($j, $a) { $a($j); return \strcasecmp($x, $y); }); }
function called(Job $j, \Closure $a) { return [\call_user_func($a, $j), \call_user_func_array($a, ['j' => $j])]; }
function spread(Job $j, \Closure $a) { $f = static fn (...$all) => $all; return $f(...[1, 2], ...['n' => $a($j)]); }
function named(Job $j, \Closure $a, \Closure $b) { $f = static fn (int $x, mixed $y, mixed $z = null) => \compact('x', 'y', 'z'); return $f(z: $a($j), x: 1, y: $b($j)); }
function by_reference(Job $j, \Closure $a) { $n = [0]; $add = static function (array &$n) use ($j, $a) { $n[] = 1; $n[] = $a($j); $n[0]++; }; $add($n); $add($n); return $n; }
function recursion(Job $j, \Closure $a) { $f = static function (int $n) use (&$f, $j, $a) { w($j); return $n === 0 ? [$a($j)] : [$n, ...$f($n - 1)]; }; return $f(4); }
function static_variable(Job $j, \Closure $a) { $f = static function () use ($j, $a) { static $n = 0; $n++; $a($j); return $n; }; return [$f(), $f()]; }
function first_class(Job $j, \Closure $a) { $o = new Counter(); $f = $o->add(...); w($j); $a($j); return [$f(2), $f(3), (\strtoupper(...))('up')]; }
function bound(Job $j, \Closure $a) { $f = function () use ($j, $a) { $a($j); return $this->n + self::STEP; }; return $f->bindTo(new Counter(), Counter::class)(); }
function reflected(Job $j, \Closure $a) { $m = new \ReflectionMethod(Counter::class, 'add'); $a($j); return [$m->invoke(new Counter(), 4), (new \ReflectionFunction($a))->invoke($j)]; }
function matched(Job $j, \Closure $a) { return match (true) { $a($j) === null => 'null', $j->draw(2) === 1 => 'one', default => $a($j) }; }
function unmatched(Job $j, \Closure $a) { return match ($a($j)) { 'never' => 1, ['never'] => 2 }; }
function conditional(Job $j, \Closure $a, \Closure $b) { return $j->draw(2) ? $a($j) : ($b($j) ?? $a($j)); }
function short_circuit(Job $j, \Closure $a, \Closure $b) { return [(bool) $a($j) && (bool) $b($j), null?->missing($b($j)), ($a($j) ?: 'empty')]; }
function destructured(Job $j, \Closure $a) { [0 => $x, 'k' => [, $y]] = ['k' => [1, 2], 0 => $a($j)]; return [$x, $y]; }
function interpolated(Job $j, \Closure $a) { $o = new Speaking($j, $a); return "<$o> {$j->draw(5)} " . \sprintf('%s/%5s', $o, 'r') . \implode(',', [$o, 1]); }
function looped(Job $j, \Closure $a) { $out = []; for ($i = 0; $i < 3; $i++) { if ($i === 1) { continue; } $out[] = [$i, $a($j)]; while (true) { w($j); break; } } return $out; }
function counted(Job $j, \Closure $a) { for ($sum = $i = 0; $i < 3000; $i++) { $sum += $i % 7; if ($i % 1000 === 0) { $a($j); } } return $sum; }
function jumped(Job $j, \Closure $a) { $n = 0; again: $a($j); if (++$n < 3) { goto again; } return $n; }

// --- objects ----------------------------------------------------------------------------------------------------------

class Counter
{
    public const STEP = 10;
    public int $n = 1;
    public function add(int $by): int { return $this->n += $by; }
}
final class Speaking implements \Stringable
{
    public function __construct(private Job $j, private \Closure $a) {}
    public function __toString(): string { return 'said:' . \json_encode(plain(($this->a)($this->j))); }
}
/** Every operation on it evaluates its part. */
final class Magic implements \ArrayAccess, \Countable, \IteratorAggregate, \JsonSerializable
{
    private array $kept = ['k' => 1];
    public function __construct(private Job $j, private \Closure $a) {}
    private function part(string $of): mixed { $this->j->say($of); return ($this->a)($this->j); }
    public function __get(string $name): mixed { return [$name, $this->part('get')]; }
    public function __set(string $name, mixed $value): void { $this->part('set'); $this->kept[$name] = $value; }
    public function __isset(string $name): bool { $this->part('isset'); return $name !== 'no'; }
    public function __unset(string $name): void { $this->part('unset'); unset($this->kept[$name]); }
    public function __call(string $name, array $arguments): mixed { return [$name, $arguments, $this->part('call')]; }
    public static function __callStatic(string $name, array $arguments): mixed { return [$name, \count($arguments)]; }
    public function __invoke(int ...$n): mixed { return [$n, $this->part('invoke')]; }
    public function __clone() { $this->part('clone'); }
    public function __debugInfo(): array { try { return ['debug' => $this->part('debug')]; } catch (\Throwable $e) { return [$e->getMessage()]; } } // PHP ends where it throws
    public function offsetExists(mixed $k): bool { $this->part('exists'); return isset($this->kept[$k]); }
    public function offsetGet(mixed $k): mixed { return [$k, $this->part('offset')]; }
    public function offsetSet(mixed $k, mixed $v): void { $this->part('put'); $this->kept[$k ?? 'next'] = $v; }
    public function offsetUnset(mixed $k): void { $this->part('away'); unset($this->kept[$k]); }
    public function count(): int { $this->part('count'); return \count($this->kept); }
    public function getIterator(): \Iterator { $this->part('iterator'); foreach ($this->kept as $k => $v) { yield $k => [$v, $this->part('yield')]; } }
    public function jsonSerialize(): mixed { return ['json' => plain($this->part('json'))]; }
    public function kept(): array { return $this->kept; }
}
function magic_properties(Job $j, \Closure $a) { $m = new Magic($j, $a); $m->x = 1; $m->y = [2]; unset($m->x); return [$m->z, isset($m->q), isset($m->no), empty($m->q), $m->kept(), $m->u?->v ?? 'none']; }
function magic_calls(Job $j, \Closure $a) { $m = new Magic($j, $a); return [$m->anything(1, 2), $m(3), Magic::some(4), \array_map([$m, 'mapped'], [5]), \is_callable([$m, 'x'])]; }
function magic_offsets(Job $j, \Closure $a) { $m = new Magic($j, $a); $m['n'] = 1; $m[] = 2; unset($m['k']); return [$m['n'], isset($m['n']), $m['none'] ?? 'none', \count($m), $m->kept()]; }
function magic_loop(Job $j, \Closure $a) { return \iterator_to_array(new Magic($j, $a)); }
function magic_json(Job $j, \Closure $a) { return \json_encode(['m' => new Magic($j, $a), 'n' => 1]); }
function magic_clone(Job $j, \Closure $a) { $m = new Magic($j, $a); $n = clone $m; return $n == $m ? 'equal' : 'different'; }
function magic_debug(Job $j, \Closure $a) { \ob_start(); \var_dump(new Magic($j, $a)); \print_r(new Magic($j, $a)); return \strlen(\preg_replace('~#\d+~', '#', (string) \ob_get_clean())); }
function exported(Job $j, \Closure $a) { return \var_export([plain($a($j)), new \ArrayObject([1])], true); }
function compared(Job $j, \Closure $a) { $x = new \ArrayObject([$a($j), 2]); $y = new \ArrayObject([$a($j), 2]); return [$x == $y, $x < new \ArrayObject([1]), [1, [2]] === [1, [2]]]; }
function cloned(Job $j, \Closure $a) { $o = new \stdClass(); $o->list = [$a($j)]; $o->self = new Counter(); $p = clone $o; $p->list[] = 1; $p->self->n = 7; return [$o, $p]; }
final class Packed
{
    public function __construct(public ?Job $j, public ?\Closure $a, public mixed $value = null) {}
    public function __serialize(): array { w($this->j); return ['value' => plain(($this->a)($this->j))]; }
    public function __unserialize(array $data): void { $this->j = $this->a = null; $this->value = $data['value']; \Compositions\pause(); }
}
function serialized(Job $j, \Closure $a) { return \unserialize(\serialize([new Packed($j, $a), new Packed($j, $a)])); }
enum Suit: string
{
    case Hearts = 'h';
    case Spades = 's';
    public static function drawn(Job $j): self { w($j); return self::cases()[$j->draw(2)]; }
    public function label(Job $j): string { w($j); return \ucfirst($this->name); }
}
function enumerated(Job $j, \Closure $a) { $s = Suit::drawn($j); $a($j); return [$s->label($j), Suit::from('h') === Suit::Hearts, Suit::tryFrom('x'), $s->value]; }
final readonly class Fixed { public function __construct(public mixed $a, public int $b = 2) {} public function with(int $b): self { return new self($this->a, $b); } }
function fixed(Job $j, \Closure $a) { $f = (new Fixed($a($j)))->with(5); try { $f->b = 1; } catch (\Error $e) { w($j); return [$f, $e->getMessage()]; } return 'changed'; }
function weak(Job $j, \Closure $a) { $o = new Counter(); $r = \WeakReference::create($o); $m = new \WeakMap(); $m[$o] = $a($j); $n = \count($m); unset($o); w($j); return [$n, \count($m), $r->get()]; }
function cycles(Job $j, \Closure $a) { for ($i = 0; $i < 50; $i++) { $o = new \stdClass(); $o->o = new \stdClass(); $o->o->o = $o; } unset($o); $a($j); return \gc_collect_cycles() >= 0; }
function anonymous(Job $j, \Closure $a) { $o = new class($a($j)) extends Counter { public function __construct(public mixed $x) {} public function add(int $by): int { return parent::add($by) * 2; } }; return [$o->add(1), $o->x]; }
function inherited(Job $j, \Closure $a) { $class = Shared\Leaf::class; w($j); return [(new $class())->up($j, $a), \is_subclass_of($class, Shared\Root::class)]; }
function constants(Job $j, \Closure $a) { $a($j); return [Shared\Constants::SUM, Shared\Constants::LIST, (new Shared\Constants())->default]; }
function lazily(Job $j, \Closure $a) { return [$a($j), Shared\lazily($j)]; }

// --- generators, iterators, fibers ------------------------------------------------------------------------------------

function generated(Job $j, \Closure $a) { $g = (static function () use ($j, $a) { $x = yield 1 => $a($j); w($j); try { yield $x; } finally { $j->say('generator ends'); w($j); } return 9; })(); $out = [$g->current(), $g->send('sent')]; $g->next(); return [...$out, $g->valid() ? 'more' : $g->getReturn()]; }
function generator_throws(Job $j, \Closure $a) { $g = (static function () use ($j, $a) { try { w($j); yield 1; } catch (Thrown $e) { yield [$e->getMessage(), $a($j)]; } })(); $g->current(); return $g->throw(new Thrown('into it')); }
function generator_left(Job $j, \Closure $a) { $f = static function () use ($j, $a) { try { yield $a($j); yield 2; } finally { w($j); $j->say('left'); } }; foreach ($f() as $v) { return [$v]; } return []; }
function delegated(Job $j, \Closure $a) { $inner = static function () use ($j, $a) { yield $a($j); w($j); return 'result'; }; $g = (static function () use ($inner) { $r = yield from $inner(); yield from ['x', 'y']; return $r; })(); return [\iterator_to_array($g, false), $g->getReturn()]; }
function iterated(Job $j, \Closure $a) { $i = new \CallbackFilterIterator(new \ArrayIterator([1, 2, 3, 4]), static function ($v) use ($j, $a) { $a($j); return $v % 2 === 0; }); return \iterator_to_array(new \LimitIterator($i, 0, 2), false); }
function iterated_many(Job $j, \Closure $a) { $m = new \MultipleIterator(\MultipleIterator::MIT_KEYS_ASSOC); $m->attachIterator(new \ArrayIterator([1, 2]), 'a'); $m->attachIterator((static function () use ($j, $a) { yield $a($j); yield 5; })(), 'b'); $out = []; foreach ($m as $v) { w($j); $out[] = $v; } return $out; }
function recursive_iterator(Job $j, \Closure $a) { $out = []; foreach (new \RecursiveIteratorIterator(new \RecursiveArrayIterator([1, [2, [3]]]), \RecursiveIteratorIterator::SELF_FIRST) as $v) { $a($j); $out[] = \is_array($v) ? \count($v) : $v; } return $out; }
function iterator_applied(Job $j, \Closure $a) { $i = new \ArrayIterator([1, 2]); return \iterator_apply($i, static function () use ($j, $a) { $a($j); return true; }); }
function heap(Job $j, \Closure $a) { $h = new class($j, $a) extends \SplHeap { public function __construct(private Job $j, private \Closure $a) {} protected function compare(mixed $x, mixed $y): int { ($this->a)($this->j); return $x <=> $y; } }; foreach ([2, 3, 1] as $n) { $h->insert($n); } return \iterator_to_array($h, false); }
function storage(Job $j, \Closure $a) { $s = new \SplObjectStorage(); $s[new Counter()] = $a($j); $s->attach(new \stdClass(), 1); w($j); $out = []; foreach ($s as $i => $o) { $out[] = [$i, $o::class, $s[$o]]; } return $out; }
function fiber(Job $j, \Closure $a) { $f = new \Fiber(static function (int $x) use ($j, $a) { w($j); $y = \Fiber::suspend([$x, $a($j)]); w($j); return $y . '!'; }); $out = [$f->start(1)]; w($j); $f->resume('resumed'); return [...$out, $f->getReturn(), $f->isTerminated()]; }
function fiber_throws(Job $j, \Closure $a) { $f = new \Fiber(static function () use ($j, $a) { try { \Fiber::suspend(); } catch (Thrown $e) { w($j); return [$e->getMessage(), $a($j)]; } }); $f->start(); w($j); $f->throw(new Thrown('into the fiber')); return $f->getReturn(); }
function fiber_left(Job $j, \Closure $a) { $f = new \Fiber(static function () use ($j) { try { \Fiber::suspend(1); } finally { $j->say('fiber left'); } }); $f->start(); $v = $a($j); unset($f); return [$v]; }
function fibers(Job $j, \Closure $a) { $all = []; for ($i = 0; $i < 3; $i++) { $f = new \Fiber(static function () use ($j, $a, $i) { $v = $a($j); \Fiber::suspend($i); return $v; }); $all[] = [$f, $f->start()]; } return \array_map(static function ($f) { $f[0]->resume(); return [$f[1], $f[0]->getReturn()]; }, $all); }

// --- the engine -------------------------------------------------------------------------------------------------------

function buffered(Job $j, \Closure $a) { \ob_start(static fn (string $text): string => \strtoupper($text)); echo 'in '; $v = $a($j); echo 'out '; \ob_end_flush(); return [$v, \ob_get_level() > 0]; }
function buffered_in_parts(Job $j, \Closure $a) { \ob_start(); echo 'x'; try { $a($j); } finally { $got = \ob_get_clean(); } \ob_start(null, 4); echo 'long enough'; w($j); \ob_end_clean(); return $got; }
function error_handled(Job $j, \Closure $a) { \set_error_handler(static function ($n, $text) use ($j) { w($j); $j->say("own: $text"); return true; }); try { \trigger_error('mine'); return [$a($j), $none]; } finally { \restore_error_handler(); } }
function error_thrown(Job $j, \Closure $a) { \set_error_handler(static function ($n, $text) use ($j) { w($j); throw new Thrown($text); }); try { return [$a($j), $none]; } finally { \restore_error_handler(); } }
function silenced(Job $j, \Closure $a) { return [@$a($j), @\file_get_contents('/nowhere/at/all'), \error_get_last() !== null]; }
function reporting(Job $j, \Closure $a) { $old = \error_reporting(E_ERROR); try { return [$a($j), $none ?? 1, \error_reporting() === E_ERROR]; } finally { \error_reporting($old); } }
function evaluated(Job $j, \Closure $a) { return eval('$x = $a($j); return [$x, __LINE__, (static fn () => \Compositions\w($j))()];'); }
function misparsed(Job $j, \Closure $a) { try { eval('$x = ;'); } catch (\ParseError $e) { return [\strtok($e->getMessage(), ','), $a($j)]; } return 'parsed'; }
function included(Job $j, \Closure $a) { $f = \tempnam(\sys_get_temp_dir(), 'cmp'); \file_put_contents($f, '<?php \Compositions\w($j); return [$a($j), __LINE__];'); try { return include $f; } finally { \unlink($f); } }
function included_once(Job $j, \Closure $a) { $a($j); require_once __DIR__ . '/shared/once.php'; return Shared\once(); }
function declared(Job $j, \Closure $a) { $name = 'Made' . \md5($j->name . $j->draw(1 << 20) . \spl_object_id($a)); if (!\class_exists($name, false)) { eval("class $name extends \\Compositions\\Feature\\Counter { public int \$n = 40; }"); } $a($j); return (new $name())->add(2); }
function superglobals(Job $j, \Closure $a) { $a($j); return [\is_array($GLOBALS), isset($_SERVER['argv'])]; }
function asserted(Job $j, \Closure $a) { $a($j); return \assert(true); }
function tokenized(Job $j, \Closure $a) { $a($j); return \count(\PhpToken::tokenize('<?php echo 1 + 2;')); }
function timed(Job $j, \Closure $a) { $t = \hrtime(true); $a($j); return \hrtime(true) >= $t && (new \DateTimeImmutable('2024-02-30'))->format('Y-m-d') === '2024-03-01'; }
function deep(Job $j, \Closure $a) { $list = null; for ($i = 0; $i < 2000; $i++) { $n = new \stdClass(); $n->next = $list; $list = $n; } $v = $a($j); unset($list, $n); return [$v]; }
function backtrace(Job $j, \Closure $a) { $a($j); return \count(\debug_backtrace()) > 2 && (new \Exception())->getLine() === __LINE__; }

// --- extensions -------------------------------------------------------------------------------------------------------

function replaced(Job $j, \Closure $a) { return \preg_replace_callback('/\d/', static fn ($m) => '[' . $m[0] . \json_encode(plain($a($j))) . ']', 'a1b2'); }
function replaced_by_list(Job $j, \Closure $a) { return \preg_replace_callback_array(['/a/' => static fn ($m) => $a($j) === null ? 'A' : 'B', '/(?<n>b)/i' => static function ($m) use ($j) { w($j); return $m['n'] . $m['n']; }], 'aabb'); }
function replaced_in_many(Job $j, \Closure $a) { return \preg_replace_callback(['/x/', 'k' => '/y/'], static function ($m) use ($j, $a) { $a($j); return $m[0] . '!'; }, ['xy', 'n' => 'yx'], 1, $count) + ['count' => $count]; }
function replaced_by_mb(Job $j, \Closure $a) { return \mb_ereg_replace_callback('é', static function ($m) use ($j, $a) { $a($j); return 'e'; }, 'été'); }
function matched_all(Job $j, \Closure $a) { $a($j); return [\preg_match_all('/(\w)(\d)?/u', 'a1é', $m, PREG_SET_ORDER), $m, \preg_split('//', 'ab', -1, PREG_SPLIT_NO_EMPTY), \preg_last_error_msg()]; }
function encoded(Job $j, \Closure $a) { $v = \json_decode((string) \json_encode(plain($a($j))), true); try { \json_decode('{', flags: JSON_THROW_ON_ERROR); } catch (\JsonException $e) { w($j); return [$v, $e->getMessage(), \json_last_error()]; } return $v; }
function queried(Job $j, \Closure $a) { $db = new \PDO('sqlite::memory:'); $db->sqliteCreateFunction('part', static fn ($n) => $n . \json_encode(plain($a($j)))); $db->exec('create table t (n int)'); $s = $db->prepare('insert into t values (?)'); foreach ([2, 1] as $n) { $s->execute([$n]); w($j); } return $db->query('select part(n) from t order by n')->fetchAll(\PDO::FETCH_COLUMN); }
function query_aggregates(Job $j, \Closure $a) { $db = new \PDO('sqlite::memory:'); $db->sqliteCreateAggregate('joined', static function ($c, $r, $v) use ($j, $a) { $a($j); return $c . $v; }, static fn ($c) => $c); $db->sqliteCreateCollation('backwards', static function ($x, $y) use ($j) { w($j); return \strcmp($y, $x); }); return [$db->query("select joined(column1) from (values ('a'), ('b'))")->fetchColumn(), $db->query("select column1 from (values ('a'), ('b')) order by column1 collate backwards")->fetchAll(\PDO::FETCH_COLUMN)]; }
function query_fetches(Job $j, \Closure $a) { $db = new \PDO('sqlite::memory:'); return $db->query('select 1, 2 union select 3, 4')->fetchAll(\PDO::FETCH_FUNC, static fn ($x, $y) => [$x, $y, $a($j)]); }
function query_fails(Job $j, \Closure $a) { $db = new \PDO('sqlite::memory:'); $db->beginTransaction(); try { $a($j); $db->exec('nonsense'); } catch (\PDOException $e) { $db->rollBack(); return [$e->getCode(), $db->inTransaction()]; } return 'done'; }
function shared_query(Job $j, \Closure $a) { $n = $j->draw(100); $a($j); return (int) Shared\database()->query("select slow($n) + 1")->fetchColumn(); }
function xml_parsed(Job $j, \Closure $a) { $p = \xml_parser_create(); $out = []; \xml_set_element_handler($p, static function ($p, $name) use (&$out, $j, $a) { $out[] = [$name, $a($j)]; }, static function ($p, $name) use (&$out) { $out[] = "/$name"; }); \xml_parse($p, '<x><y/></x>', true); return $out; }
function documented(Job $j, \Closure $a) { $d = new \DOMDocument(); $d->loadXML('<r><i n="1"/><i n="2"/></r>'); $x = new \DOMXPath($d); $x->registerNamespace('php', 'http://php.net/xpath'); $x->registerPhpFunctions(); $out = []; foreach ($x->query('//i') as $i) { $a($j); $out[] = $i->getAttribute('n'); } return [$out, $d->saveXML($d->documentElement)]; }
function badly_documented(Job $j, \Closure $a) { $d = new \DOMDocument(); $old = \libxml_use_internal_errors(true); $d->loadXML('<a>'); $n = \count(\libxml_get_errors()); \libxml_clear_errors(); \libxml_use_internal_errors($old); $a($j); return $n > 0; }
function simple_xml(Job $j, \Closure $a) { $x = new \SimpleXMLElement('<r><i>1</i><i>2</i></r>'); $sum = 0; foreach ($x->i as $i) { $a($j); $sum += (int) $i; } return $sum; }
function xml_read(Job $j, \Closure $a) { $r = new \XMLReader(); $r->XML('<r><i/><i/></r>'); for ($n = 0; $r->read();) { $n++; $n === 2 && $a($j); w($j); } return $n; }
function hashed(Job $j, \Closure $a) { $c = \hash_init('sha256'); \hash_update($c, 'a'); $a($j); \hash_update($c, 'b'); return [\hash_final($c) === \hash('sha256', 'ab'), \crc32('x')]; }
function deflated(Job $j, \Closure $a) { $d = \deflate_init(ZLIB_ENCODING_GZIP); $out = \deflate_add($d, \str_repeat('ab', 500), ZLIB_NO_FLUSH); $a($j); $out .= \deflate_add($d, 'end', ZLIB_FINISH); return \strlen((string) \gzdecode($out)); }
function formatted(Job $j, \Closure $a) { $a($j); return [\number_format(1234.5, 2), \vsprintf('%2$s-%1$04d', [7, 'x']), \strtr('abc', ['a' => '1', 'bc' => '2']), \mb_strtoupper('é'), \iconv('UTF-8', 'ISO-8859-1', 'é') === "\xe9"]; }
function dated(Job $j, \Closure $a) { $out = []; foreach (new \DatePeriod(new \DateTime('2024-01-30 UTC'), new \DateInterval('P1D'), 2) as $d) { $a($j); $out[] = $d->format('md'); } return $out; }
function randomized(Job $j, \Closure $a) { $r = new \Random\Randomizer(new \Random\Engine\Mt19937(7)); $x = $r->getInt(1, 1000); $a($j); return [$x, $r->getInt(1, 1000)]; }

// --- streams ----------------------------------------------------------------------------------------------------------

/** A stream whose operations evaluate a part. It is known by its context, so that jobs do not meet. */
final class Wrapper
{
    public $context;
    private array $of;
    private int $at = 0;
    private function part(string $what): void { $this->of['j']->say($what); $this->of['a']($this->of['j']); }
    public function stream_open(string $path, string $mode, int $options, ?string &$opened): bool { $this->of = \stream_context_get_options($this->context)['part']; $this->part('open'); return true; }
    public function stream_read(int $size): string { $this->part('read'); return $this->at++ < 2 ? "line $this->at\n" : ''; }
    public function stream_write(string $data): int { $this->part('write'); return \strlen($data); }
    public function stream_eof(): bool { return $this->at > 2; }
    public function stream_close(): void { $this->of['j']->say('close'); }
    public function stream_stat(): array { return []; }
    public function stream_set_option(int $option, int $x, int $y): bool { return false; }
}
final class Filter extends \php_user_filter
{
    public function filter($in, $out, &$consumed, bool $closing): int
    {
        while ($bucket = \stream_bucket_make_writeable($in)) {
            [$j, $a] = $this->params;
            $a($j);
            $bucket->data = \strrev($bucket->data);
            $consumed += $bucket->datalen;
            \stream_bucket_append($out, $bucket);
        }
        return PSFS_PASS_ON;
    }
}
\stream_wrapper_register('part', Wrapper::class);
\stream_filter_register('part.reverse', Filter::class);

function stream_wrapped(Job $j, \Closure $a) { $f = \fopen('part://x', 'r+', false, \stream_context_create(['part' => ['j' => $j, 'a' => $a]])); $out = [\fgets($f), \fwrite($f, 'abc'), \fgets($f), \feof($f)]; \fclose($f); return $out; }
function stream_filtered(Job $j, \Closure $a) { $f = \fopen('php://memory', 'w+'); \stream_filter_append($f, 'part.reverse', STREAM_FILTER_WRITE, [$j, $a]); \fwrite($f, 'abc'); \rewind($f); return \stream_get_contents($f); }
function file_written(Job $j, \Closure $a) { $n = \tempnam(\sys_get_temp_dir(), 'cmp'); $f = \fopen($n, 'w+'); \flock($f, LOCK_EX); \fwrite($f, "one\n"); $v = $a($j); \fputcsv($f, ['a b', '1']); \fflush($f); \rewind($f); $out = [\fgets($f), \fgetcsv($f), \filesize($n) > 0, $v]; \fclose($f); \unlink($n); return $out; }
function paired(Job $j, \Closure $a) { [$x, $y] = \stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); \fwrite($x, "hello\n"); $v = $a($j); $out = \fgets($y); \fclose($x); return [$out, \fgets($y), \feof($y), $v]; }
function process(Job $j, \Closure $a) { $p = \proc_open(['cat'], [['pipe', 'r'], ['pipe', 'w']], $pipes); \fwrite($pipes[0], 'to a cat'); $v = $a($j); \fclose($pipes[0]); $out = \stream_get_contents($pipes[1]); return [$out, \proc_close($p), $v]; }
function shell(Job $j, \Closure $a) { $a($j); return [\trim((string) \shell_exec('echo 3')), \exec('exit 4', $_, $status), $status]; }
function memory_stream(Job $j, \Closure $a) { $f = new \SplTempFileObject(); $f->fwrite("x\ny\n"); $a($j); $f->rewind(); return \array_map('trim', \iterator_to_array($f, false)); }
function socket_pair(Job $j, \Closure $a) { \socket_create_pair(AF_UNIX, SOCK_STREAM, 0, $p); \socket_write($p[0], 'ping'); $a($j); return [\socket_read($p[1], 4), \socket_set_nonblock($p[1]), @\socket_read($p[1], 1)]; }

// --- several at once --------------------------------------------------------------------------------------------------

function both(Job $j, \Closure $a, \Closure $b) { return together($j, $a, $b); }
function three(Job $j, \Closure $a, \Closure $b, \Closure $c) { return together($j, $a, $b, $c); }
function same_twice(Job $j, \Closure $a) { return together($j, $a, $a); }
