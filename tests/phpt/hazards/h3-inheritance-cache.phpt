--TEST--
H3 what opcache keeps of a class that was linked while others were is that class's own: what it depends on, and its warnings
--EXTENSIONS--
opcache
posix
--FILE--
<?php
require __DIR__ . '/kit.inc';
$dir = T\work_in([
    'base.php' => '<?php class Y {} class P { function f(): Y { return new Y; } } class Q { function f(): Y { return new Y; } }',
    // to be linked, these need classes that are loaded then
    'a.php' => '<?php class A extends P { function f(): X { return new X; } }',
    'b.php' => '<?php class B extends Q { function f(): Z { return new Z; } }',
    'x.php' => '<?php class X extends Y {}',
    'other-x.php' => '<?php class X {}',
    'z.php' => '<?php class Z extends Y {}',
    // these are warned of
    'c.php' => '<?php class C implements Countable { function count() {} }',
    'd.php' => '<?php class D implements Countable, IteratorAggregate { function count() {} function getIterator() {} }',
    'linked.php' => <<<'PHP'
        <?php
        use function Async\{await, spawn, suspend};

        $suspended = function(Async\Coroutine ...$all) {
            foreach ($all as $one) while (!$one->isSuspended() && !$one->isCompleted()) suspend();
        };
        require 'base.php';
        $goes_on = [];
        spl_autoload_register(function(string $class) use (&$goes_on) {
            while (!isset($goes_on[$class])) suspend();
            require strtolower("$class.php");
        });
        $suspended($a = spawn(fn() => require 'a.php'));
        $suspended($b = spawn(fn() => require 'b.php'));
        $goes_on['X'] = true;
        await($a);
        $goes_on['Z'] = true;
        await($b);
        // and in the middle of the log, whose reader has not come yet
        foreach (['c', 'd'] as $name) {
            posix_mkfifo("$name-log", 0600);
            ini_set('error_log', __DIR__ . "/$name-log");
            $suspended($jobs[$name] = spawn(fn() => require "$name.php"));
        }
        foreach ($jobs as $name => $job) {
            $log = fopen("$name-log", 'r');
            await($job);
            fclose($log);
        }
        echo "linked\n";
        PHP,
    'warnings.php' => <<<'PHP'
        <?php
        set_error_handler(function($level, $text) { echo preg_replace('/^Return type of (.*?) should.*/', '$1', $text), "\n"; });
        require 'c.php';
        require 'd.php';
        PHP,
    'dependencies.php' => <<<'PHP'
        <?php
        require 'base.php';
        spl_autoload_register(function(string $class) { require $class === 'X' ? 'other-x.php' : 'z.php'; });
        register_shutdown_function(function() { echo strtok(error_get_last()['message'] ?? 'no error', ':'), "\n"; });
        require 'a.php';
        PHP,
]);
$ini = '-d opcache.enable=1 -d opcache.enable_cli=1 -d opcache.file_update_protection=0 -d display_errors=0 -d log_errors=1 -d error_reporting=-1';
$server = new T\BuiltInServer($ini);
foreach (['linked', 'warnings', 'dependencies'] as $page) echo $server->get("$page.php");
$server->end();
?>
--EXPECT--
linked
C::count()
D::count()
D::getIterator()
Declaration of A
