--TEST--
FIB-4 State that is kept by the coroutine's Fiber is each coroutine's own as long as that runs, and is released at its end
--FILE--
<?php
// As Monolog guards itself against a logger that logs.
namespace Monolog {
    final class Logger {
        private \WeakMap $depths;
        private int $depth = 0;
        public array $records = [];
        public int $warnings = 0;
        public function __construct() { $this->depths = new \WeakMap; }

        public function log(string $text): void
        {
            if ($fiber = \Fiber::getCurrent()) $depth = $this->depths[$fiber] = ($this->depths[$fiber] ?? 0) + 1;
            else $depth = ++$this->depth;
            try {
                if ($depth >= 3) { $this->warnings++; return; }
                \Async\suspend(); // a handler that waits
                $this->records[] = $text;
            } finally {
                if ($fiber) $this->depths[$fiber]--;
                else $this->depth--;
            }
        }

        public function kept(): int { return \count($this->depths); }
    }

    final class State {
        public static ?\WeakMap $map = null;
        public function __construct(private string $name) {}
        public function __destruct() { echo "$this->name released in coroutine ", \Async\currentCoroutine()->getId() === Holder::$id ? 'of its own' : 'ANOTHER', "\n"; }
    }
    final class Holder {
        public static int $id;
        public static function keep(string $name): \WeakReference { 
            $fiber = \Fiber::getCurrent();
            self::$id = \Async\currentCoroutine()->getId();
            State::$map ??= new \WeakMap;
            State::$map[$fiber] = new State($name);
            return \WeakReference::create($fiber);
        }
    }
}
namespace {
    use function Async\{await, awaitAll, spawn, suspend};

    $log = new Monolog\Logger;
    $jobs = [];
    for ($i = 0; $i < 20; $i++) $jobs[] = spawn(function() use ($log, $i) { for ($n = 0; $n < 10; $n++) $log->log("$i.$n"); });
    awaitAll($jobs);
    $jobs = [];
    echo count($log->records), " records, $log->warnings warnings, {$log->kept()} fibers kept\n";

    $weak = await(spawn(function() {
        $weak = Monolog\Holder::keep('a value');
        suspend();
        gc_collect_cycles();
        var_dump($weak->get() instanceof Fiber);
        echo "ends\n";
        return $weak;
    }));
    var_dump($weak->get(), count(Monolog\State::$map));

    // One that somebody holds outlives its coroutine.
    $fiber = await(spawn(fn() => Monolog\Holder::keep('a held one')->get()));
    var_dump($fiber->isTerminated(), count(Monolog\State::$map));
    Monolog\Holder::$id = Async\currentCoroutine()->getId();
    unset($fiber);

    // What a destructor throws there fails the coroutine, as what its variables do.
    final class Thrower { public function __destruct() { throw new Exception('thrown by a destructor'); } }
    $failing = spawn(function() { $weak = Monolog\Holder::keep('replaced'); Monolog\State::$map[$weak->get()] = new Thrower; });
    try { await($failing); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
}
?>
--EXPECT--
200 records, 0 warnings, 0 fibers kept
bool(true)
ends
a value released in coroutine of its own
NULL
int(0)
bool(true)
int(1)
a held one released in coroutine of its own
replaced released in coroutine of its own
thrown by a destructor
