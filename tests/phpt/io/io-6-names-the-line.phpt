--TEST--
IO-6 what blocks is named by its coroutine, file and line: loops, internal functions, the script itself, includes, generators, methods, fibers
--EXTENSIONS--
ffi
hash
--SKIPIF--
<?php require __DIR__ . '/reads-memory.inc'; ?>
--FILE--
<?php
require __DIR__ . '/kit.inc';

T\work_in([
    'included.php' => <<<'PHP'
        <?php
        namespace Included;

        function outer(): int
        {
            return inner() + 1;
        }

        function inner(): int
        {
            $end = hrtime(true) + 600_000_000;
            do {
                for ($i = $sum = 0; $i < 300_000; $i++) $sum += $i; // include
            } while (hrtime(true) < $end);
            return $sum;
        }
        PHP,
    'main.php' => <<<'PHP'
        <?php
        use function Async\{await, currentCoroutine, delay, spawn, suspend};

        require __DIR__ . '/included.php';

        function loop(): void
        {
            $end = hrtime(true) + 600_000_000;
            do {
                for ($i = $sum = 0; $i < 300_000; $i++) $sum += $i; // loop
            } while (hrtime(true) < $end);
        }

        function generator(): Generator
        {
            yield 1;
            $end = hrtime(true) + 600_000_000;
            do {
                for ($i = $sum = 0; $i < 300_000; $i++) $sum += $i; // generator
            } while (hrtime(true) < $end);
            yield 2;
        }

        final class Service
        {
            public function closure(): Closure
            {
                return function (): void {
                    $end = hrtime(true) + 600_000_000;
                    do {
                        for ($i = $sum = 0; $i < 300_000; $i++) $sum += $i; // closure
                    } while (hrtime(true) < $end);
                };
            }
        }

        final class Slow
        {
            public function __destruct()
            {
                FFI::cdef('int usleep(unsigned int);')->usleep(600_000); // destructor
            }
        }

        $libc = FFI::cdef('int usleep(unsigned int);');
        $tasks = [
            'loop' => loop(...),
            'internal' => function (): void {
                $salt = 'salt';
                hash_pbkdf2('sha512', 'password', $salt, 300_000); // internal
                $salt .= 'more';
            },
            'library' => function () use ($libc): void {
                $libc->usleep(1);
                $libc->usleep(3_000_000); // library
                $libc->usleep(1);
            },
            'include' => Included\outer(...),
            'calls' => function (): void {
                $text = str_repeat('text', 20_000);
                for ($end = hrtime(true) + 600_000_000; hrtime(true) < $end; md5($text)); // calls
            },
            'generator' => fn () => iterator_count(generator()),
            'closure' => fn () => (new Service)->closure()(),
            'destructor' => function (): void {
                $slow = new Slow;
                delay(1);
                unset($slow);
            },
            'fiber' => function () use ($libc): void {
                $fiber = new Fiber(function () use ($libc): void {
                    Fiber::suspend();
                    $libc->usleep(600_000); // fiber
                });
                $fiber->start();
                delay(1);
                $fiber->resume();
            },
            'callback' => function () use ($libc): void {
                array_map(function () use ($libc): void {
                    $libc->usleep(600_000); // callback
                }, [1]);
            },
        ];
        spawn(fn () => delay(500));
        foreach ($tasks as $name => $task) {
            $coroutine = spawn(function () use ($name, $task): void {
                $task();
            });
            echo "id {$coroutine->getId()} $name\n";
            await($coroutine);
        }
        echo 'id ', currentCoroutine()->getId(), " script\n";
        $libc->usleep(600_000); // script
        suspend();
        echo "done\n";
        PHP,
]);
$expected = [];
foreach (['main.php', 'included.php'] as $file) {
    foreach (file($file) as $index => $line) {
        if (preg_match('~; // (\w+)$~m', $line, $m)) {
            $expected[$m[1]] = [$file, $index + 1];
        }
    }
}
$jit = '-d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M -d opcache.jit=tracing';
foreach (['interpreter' => '', 'JIT' => $jit] as $engine => $options) {
    $ended = T\command(T\interpreter("-d ffi.enable=1 -d async.block_warning_ms=100 $options") . ' main.php');
    preg_match_all('/^id (\d+) (\w+)$/m', $ended->output, $ids, PREG_SET_ORDER);
    preg_match_all('~Warning: Coroutine #(\d+) \((.*?)\) has blocked .* for (\d+) ms(.*) in \S*/(\w+\.php) on line (\d+)$~m', $ended->output, $reports, PREG_SET_ORDER);
    foreach ($ids as [, $id, $name]) {
        $found = array_values(array_filter($reports, fn (array $report) => $report[1] === $id));
        // Where the process stood still at another line, that one is reported, too.
        $problems = ['none'];
        foreach ($found as [, , $who, $ms, $call, $file, $line]) {
            // Compiled code says the line of the loop around it at times, or a function that the loop calls.
            $off = abs($line - $expected[$name][1]);
            $problems = array_keys(array_filter([
                'file and line' => $file !== $expected[$name][0] || $off > ($engine === 'JIT' ? 1 : 0),
                'call' => match ($name) {
                    'internal' => $call !== ' in hash_pbkdf2()',
                    // 219: it goes on after the process stood still
                    'library' => !preg_match('~^ in usleep\(\) \(system call (clock_nanosleep|number 219), by libffi\.so~', $call),
                    'calls' => $call !== '' && $engine !== 'JIT',
                    'loop', 'include', 'generator', 'closure' => $call !== '',
                    default => false,
                },
                'time' => $ms < 100,
                'who' => !str_contains($who, $name === 'script' ? 'the script itself' : '/main.php:'),
            ]));
            if ($problems === []) break;
        }
        T\check("$engine, $name", $problems === [], [$problems, $expected[$name], $found, $ended->output]);
    }
    T\check("$engine, all", count($ids) === 11 && $ended->has("done\n") && $ended->status === 0, $ended);
}
?>
--EXPECT--
interpreter, loop: yes
interpreter, internal: yes
interpreter, library: yes
interpreter, include: yes
interpreter, calls: yes
interpreter, generator: yes
interpreter, closure: yes
interpreter, destructor: yes
interpreter, fiber: yes
interpreter, callback: yes
interpreter, script: yes
interpreter, all: yes
JIT, loop: yes
JIT, internal: yes
JIT, library: yes
JIT, include: yes
JIT, calls: yes
JIT, generator: yes
JIT, closure: yes
JIT, destructor: yes
JIT, fiber: yes
JIT, callback: yes
JIT, script: yes
JIT, all: yes
