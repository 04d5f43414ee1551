<?php
// needs: memcached peer
// needs: ext:igbinary ext:msgpack
namespace Matrix;

$late = slowed(env('SPINDLE_MEMCACHED_PORT'));
$connect = static function () use ($late) { $m = new \Memcached; $m->setOptions([\Memcached::OPT_PREFIX_KEY => unique() . '.', \Memcached::OPT_SERIALIZER => \Memcached::SERIALIZER_PHP]); $m->addServer('127.0.0.1', $late); return $m; };
$full = static function () use ($connect) { $m = $connect(); $m->set('key1', bags(1)); $m->set('key2', bags(2)); return $m; };
check('set', static fn($m, int $n) => $m->set("key$n", bags($n)), $connect, static fn($m) => [$m->get('key1'), $m->get('key2')], in: 'Memcached::set');
check('get', static fn($m, int $n) => $m->get("key$n"), $full, in: 'Memcached::get');
check('get, read through', static fn($m, int $n) => $m->get("none$n", static function ($m, $key, &$value) { pause(); $value = "made for $key"; return true; }), $connect, static fn($m) => [$m->get('none1'), $m->get('none2')], in: 'Memcached::get');
check('getMulti', static function ($m, int $n) { $all = $m->getMulti(texts('key1', 'key2')); \ksort($all); return $all; }, $full, in: 'Memcached::getMulti');
check('getDelayed', static function ($m, int $n) { $all = []; $m->getDelayed(['key1', 'key2'], false, static function ($m, $item) use (&$all) { pause(); $all[] = $item['key']; }); \sort($all); return $all; }, $full, in: 'Memcached::getDelayed');
check('increment', static fn($m, int $n) => [$m->increment('n', $n, 1)], static function () use ($connect) { $m = $connect(); $m->setOption(\Memcached::OPT_BINARY_PROTOCOL, true); return $m; }, in: 'Memcached::increment');
check('cas', static fn($m, int $n) => $m->cas(1.5, "key$n", bags($n)), $full, in: 'Memcached::cas');
check('setMulti', static fn($m, int $n) => $m->setMulti(["a$n" => new Bag($n), "b$n" => new Bag($n)]), $connect, static fn($m) => [$m->get('a1'), $m->get('b2')], in: 'Memcached::setMulti');
