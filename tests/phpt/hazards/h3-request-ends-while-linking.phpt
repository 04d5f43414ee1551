--TEST--
H3 a request that ends in the middle of linking leaves nothing of it to the next one
--FILE--
<?php
require __DIR__ . '/kit.inc';
T\work_in(['page.php' => <<<'PHP'
    <?php
    use function Async\{spawn, suspend};

    spl_autoload_register(function(string $class) {
        Async\protect(function() { for ($turn = 0; $turn < 50; $turn++) suspend(); });
        eval("class $class {}");
    });
    spawn(fn() => new class extends ParentOfAnonymous {});
    spawn(function() { eval('if (true) { class Named' . bin2hex(random_bytes(rand(3, 20))) . ' extends ParentOfNamed {} }'); });
    suspend();
    suspend();
    echo "page\n";
    ini_set('memory_limit', '8M');
    ini_set('display_errors', '0');
    if ($_GET['ends'] === 'by an error') str_repeat('x', 100_000_000);
    exit;
    PHP]);
// Memory that was freed with its request cannot be freed again by what was left behind.
$server = new T\BuiltInServer(environment: ['USE_ZEND_ALLOC' => '0', 'USE_TRACKED_ALLOC' => '1']);
$pages = 0;
for ($request = 0; $request < 6; $request++) {
    $query = http_build_query(['ends' => $request % 2 ? 'by exit' : 'by an error']);
    $pages += $server->get("page.php?$query") === "page\n";
}
echo "$pages pages\n";
T\check('it lives', $server->lives(), file_get_contents('log'));
$server->end();
?>
--EXPECT--
6 pages
it lives: yes
