--TEST--
Async\Http: exit and fatal errors in a handler end the script, with connections open; so does the end of the script
--FILE--
<?php
require __DIR__ . '/server.inc';

$program = fn(string $handler) => <<<PHP
    require '{$_SERVER['DOCUMENT_ROOT']}';
    \$server = S\\serve(function(\$r) { if (\$r->path() === '/wait') Async\\delay(1_000_000); $handler });
    register_shutdown_function(fn() => print("shutdown\\n"));
    foreach (['/wait', '/wait', '/'] as \$path) {
        \$clients[] = \$client = S\\connect(\$server);
        fwrite(\$client, "POST \$path HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 5\\r\\n\\r\\nab");
    }
    Async\\await(Async\\spawn(fn() => stream_get_contents(\$client)));
    echo "not reached\\n";
    PHP;
$include = var_export(__DIR__ . '/server.inc', true);
foreach (['exit' => 'echo "exits\n"; exit(3);', 'fatal' => 'eval("class A {} class A {}");', 'memory' => 'ini_set("memory_limit", "8M"); str_repeat("x", 100_000_000);'] as $what => $handler) {
    $ended = T\php(str_replace("'{$_SERVER['DOCUMENT_ROOT']}'", $include, $program($handler)));
    echo "$what: $ended->status ", preg_match('/Fatal error|exits/', $ended->output, $found) ? $found[0] : '?',
        $ended->has('shutdown') ? ', shutdown' : '', $ended->has('not reached') ? ', not reached' : '', "\n";
}
?>
--EXPECT--
exit: 3 exits, shutdown
fatal: 255 Fatal error, shutdown
memory: 255 Fatal error, shutdown
