--TEST--
PRIM-5 docs/upstream.md: the names that are said to be the same exist, and those that are said to be missing do not
--FILE--
<?php
$page = file_get_contents(getenv('SPINDLE_ROOT') . '/docs/upstream.md');

function exists(string $name): bool
{
    [$class, $method] = explode('::', $name) + [1 => null];
    return match (true) {
        $method !== null => method_exists("Async\\$class", $method),
        ctype_lower($class[0]) => function_exists("Async\\$class"),
        default => class_exists("Async\\$class") || interface_exists("Async\\$class"),
    };
}

preg_match_all('~^\| ([^|\n]+) \| the same[^|]* \|~m', $page, $rows);
preg_match_all('~`([\w:]+)`~', implode("\n", $rows[1]), $same);
$names = array_diff($same[1], ['Pool']);
echo count($names) > 30 ? 'many' : 'few', " names are the same\n";
foreach ($names as $name) {
    if (!exists($name)) echo "missing: $name\n";
}

preg_match('~^## What is missing\n(.*?)^And not~ms', $page, $section);
preg_match_all('~`Async\\\\(\w+)`~', $section[1], $missing);
echo count($missing[1]) > 20 ? 'many' : 'few', " names are missing\n";
foreach ($missing[1] as $name) {
    if (exists($name)) echo "exists: $name\n";
}
// What the table has another name for.
foreach (['Scope::asNotSafely', 'Channel::recvAsync', 'Timeout::cancel', 'Future::cancel', 'current_context', 'root_context'] as $name) {
    if (exists($name)) echo "exists: $name\n";
}
?>
--EXPECT--
many names are the same
many names are missing
