--TEST--
SYN-1 the operators beside the syntax of PHP 8.4: methods of new objects, property hooks that suspend, asymmetric visibility
--SKIPIF--
<?php if (PHP_VERSION_ID < 80400) die('skip that syntax came with PHP 8.4'); ?>
--INI--
async.seed=0
--FILE--
<?php
use function Async\{await, spawn};

require __DIR__ . '/kit.inc';

class Work
{
    public function __construct(private int $by = 1) {}
    public function on(int $x): int { suspend; return $x * $this->by; }
    public static function made(string $x): string { suspend; return "made $x"; }
    public function __invoke(int $x): int { return $x + $this->by; }
}
echo await spawn new Work(3)->on(4), ' ', await spawn new Work()->on(5), ' ', await spawn new Work()::made('of it'), ' ', await spawn new Work(2)(3), "\n";
echo await spawn new class(5) extends Work { public function on(int $x): int { return parent::on($x) + 1; } }->on(6), "\n";
try { eval('spawn new Work();'); } catch (ParseError $e) { echo $e->getMessage(), "\n"; }

class Page
{
    public array $log = [];
    public private(set) string $text { get { suspend; $this->log[] = 'get'; return $this->text ??= await spawn $this->load(); } }
    public int $size { get => strlen(await spawn $this->load()); set(int $value) { await spawn function () use ($value) { suspend; $this->log[] = "set $value"; }; } }
    public string $title = 'none' { set { suspend; $this->title = "[$value]"; } }
    private function load(): string { usleep(1000); return 'loaded'; }
}
$page = new Page;
$jobs = [spawn fn() => $page->text, spawn fn() => $page->text, spawn fn() => $page->size, spawn fn() => $page->size = 7, spawn fn() => $page->title = 'a', spawn fn() => [$page->title = 'b', $page->title]];
echo json_encode(array_map(fn($job) => await $job, $jobs)), ' ', $page->title, "\n";
sort($page->log);
echo implode(', ', $page->log), "\n";
try { $page->text = 'x'; } catch (Error $e) { echo $e->getMessage(), "\n"; }

// a hook that reads its own property in another coroutine is called for it: it is not the same call
class Same { public int $x = 1 { get { suspend; return $this->x; } } }
$same = new Same;
echo json_encode(T\all([spawn fn() => $same->x, spawn fn() => $same->x, spawn fn() => isset($same->x)])), "\n";

// cancelled in a hook
class Slow { public int $x { get { Async\delay(600_000); return 1; } set { Async\delay(600_000); } } }
$slow = new Slow;
foreach ([fn() => $slow->x, fn() => $slow->x = 1, fn() => $slow->x++] as $use) {
    $job = spawn $use();
    T\parked($job);
    $job->cancel();
    echo get_class(T\failure($job)), "\n";
}
?>
--EXPECT--
12 5 made of it 5
31
syntax error, unexpected token "new": spawn expects a call or a closure
["loaded","loaded",6,7,"a",["b","[b]"]] [b]
get, get, set 7
Cannot modify private(set) property Page::$text from global scope
[1,1,true]
Async\CancellationException
Async\CancellationException
Async\CancellationException
