<?php
// needs: redis peer
namespace Matrix;

$late = slowed(env('SPINDLE_REDIS_PORT'));
$connect = static function () use ($late) { $redis = new \Redis; $redis->connect('127.0.0.1', $late); $redis->setOption(\Redis::OPT_PREFIX, unique() . '.'); return $redis; };
$serializing = static function () use ($connect) { $redis = $connect(); $redis->setOption(\Redis::OPT_SERIALIZER, \Redis::SERIALIZER_PHP); return $redis; };
check('set', static fn($r, int $n) => $r->set("key$n", "value $n"), $connect, static fn($r) => [$r->get('key1'), $r->get('key2')], in: 'Redis::set');
check('get', static fn($r, int $n) => $r->get("key$n"), static function () use ($connect) { $r = $connect(); $r->mSet(['key1' => 'one', 'key2' => 'two']); return $r; }, in: 'Redis::get');
check('incr', static fn($r, int $n) => [$r->incr('n')], $connect, static fn($r) => $r->get('n'), in: 'Redis::incr');
check('set, serializing', static fn($r, int $n) => $r->set("key$n", bags($n)), $serializing, static fn($r) => [$r->get('key1'), $r->get('key2')], in: 'Redis::set');
check('get, unserializing', static fn($r, int $n) => $r->get("key$n"), static function () use ($serializing) { $r = $serializing(); $r->mSet(['key1' => bags(1), 'key2' => bags(2)]); return $r; }, in: 'Redis::get');
check('mSet, of objects', static fn($r, int $n) => $r->mSet(["a$n" => text("value $n"), "b$n" => text('other')]), $connect, static fn($r) => $r->mGet(['a1', 'a2', 'b1']), in: 'Redis::mSet');
check('eval', static fn($r, int $n) => $r->eval('return {KEYS[1], ARGV[1]}', texts("k$n", "v$n"), 1)[1], $connect, in: 'Redis::eval');
check('pipeline', static fn($r, int $n) => $r->pipeline()->set("p$n", $n)->get("p$n")->exec(), $connect, apart: true, in: 'Redis::exec');
check('multi', static fn($r, int $n) => $r->multi()->set("p$n", $n)->get("p$n")->exec(), $connect, apart: true, in: ['Redis::exec', 'Redis::multi']);
check('rawCommand', static fn($r, int $n) => $r->rawCommand('BLPOP', "none$n", '0.03'), $connect, in: 'Redis::rawCommand');
