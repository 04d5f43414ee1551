<?php
namespace Matrix;

check('posix_getpwnam', static fn($_, int $n) => \posix_getpwnam(text([1 => 'root', 2 => 'daemon'][$n]))['uid'], in: 'posix_getpwnam');
check('posix_getgrnam', static fn($_, int $n) => \posix_getgrnam(text('root'))['gid'], in: 'posix_getgrnam');
check('posix_access', static fn($_, int $n) => \posix_access(text("/none$n")), in: 'posix_access');
check('posix_isatty', static fn($_, int $n) => noisily(fn() => \posix_isatty(text("0"))), in: 'posix_isatty');
check('posix_kill', static fn($_, int $n) => noisily(fn() => \posix_kill(\getmypid(), 0.5)), in: 'posix_kill');
check('posix_mkfifo', static fn($_, int $n) => \posix_mkfifo(text(scratch()), 0600), in: 'posix_mkfifo');
check('posix_strerror', static fn($_, int $n) => noisily(fn() => \posix_strerror($n + 0.5)), in: 'posix_strerror');
