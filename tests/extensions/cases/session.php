<?php
// ini: session.use_cookies=0
// ini: session.cache_limiter=
namespace Matrix;

final class SlowSessions implements \SessionHandlerInterface
{
    public static array $stored = [];
    public function open(string $path, string $name): bool { pause(); return true; }
    public function close(): bool { pause(); return true; }
    public function read(string $id): string|false { pause(); return self::$stored[$id] ?? ''; }
    public function write(string $id, string $data): bool { pause(); self::$stored[$id] = $data; return true; }
    public function destroy(string $id): bool { pause(); unset(self::$stored[$id]); return true; }
    public function gc(int $max_lifetime): int|false { pause(); return 0; }
}
\session_set_save_handler(new SlowSessions, false);
$begin = static function () { \session_status() === PHP_SESSION_ACTIVE and \session_abort(); \session_id('one'); SlowSessions::$stored = ['one' => 'x|i:1;']; return 0; };
check('session_start', static function ($_, int $n) { return noisily(fn() => \session_start()); }, $begin, static fn() => [$_SESSION, \session_abort()], in: 'session_start');
check('session_write_close', static fn($_, int $n) => \session_write_close(), static function () use ($begin) { $begin(); \session_start(); $_SESSION['y'] = bags(1); return 0; }, static fn() => SlowSessions::$stored, in: 'session_write_close');
check('session_encode', static fn($_, int $n) => \session_encode(), static function () use ($begin) { $begin(); \session_start(); $_SESSION['y'] = new Bag(new Bag(2)); return 0; }, in: 'session_encode');
check('session_decode', static fn($_, int $n) => \session_decode("z$n|" . \serialize(new Bag($n)) . 'w|i:1;'), static function () use ($begin) { $begin(); \session_start(); return 0; }, static fn() => \array_keys($_SESSION), in: 'session_decode');
check('session_regenerate_id', static fn($_, int $n) => \session_regenerate_id(true), static function () use ($begin) { $begin(); \session_start(); return 0; }, static fn() => \count(SlowSessions::$stored), in: 'session_regenerate_id');
check('session_destroy', static fn($_, int $n) => noisily(fn() => \session_destroy()), static function () use ($begin) { $begin(); \session_start(); return 0; }, in: 'session_destroy');
check('session_gc', static fn($_, int $n) => \session_gc(), static function () use ($begin) { $begin(); \session_start(); return 0; }, in: 'session_gc');
check('session_id', static fn($_, int $n) => noisily(fn() => \session_id(text("id$n"))), $begin, in: 'session_id', apart: true);
check('session_name', static fn($_, int $n) => [\session_name(text("NAME"))][0] !== '', $begin, in: 'session_name');
