--TEST--
GRP-1 GRP-2 GRP-4 the child of a fork in the block of a call has no caller to return to: an error and status 255, unless it exits
--EXTENSIONS--
pcntl
--FILE--
<?php
require getenv('SPINDLE_ROOT') . '/tests/phpt/kit.inc';

$calls = [
    'group' => 'Async\group($block)',
    'withTimeout' => 'Async\withTimeout(60_000, $block)',
    'group in a group' => 'Async\group(fn() => Async\group($block))',
    'map' => 'Async\map([1], $block)[0]',
    'race' => 'Async\race([$block])',
];
$ends = ['exits' => 'exit(3);', 'returns' => 'return 0;', 'throws' => "throw new Exception('of the child');"];
foreach ($calls as $name => $call) {
    foreach ($ends as $how => $end) {
        $told = T\php(<<<PHP
            ini_set('display_errors', 'stderr');
            ini_set('html_errors', '0');
            \$block = function () { if (\$pid = pcntl_fork()) return \$pid; $end };
            \$pid = $call;
            if (\$pid === 0) echo 'has returned, ';
            pcntl_waitpid(\$pid, \$status);
            echo pcntl_wexitstatus(\$status);
            PHP)->output;
        preg_match('~Uncaught \w+: (.*?)(?:\(| in )~', $told, $found);
        echo "$name, the child $how: ", preg_replace('~^.*?(\d+)$~s', '$1', trim($told)), ' ', $found[1] ?? '-', "\n";
    }
}
?>
--EXPECT--
group, the child exits: 3 -
group, the child returns: 255 The child of a fork cannot return from a function that group
group, the child throws: 255 of the child
withTimeout, the child exits: 3 -
withTimeout, the child returns: 255 The child of a fork cannot return from a function that group
withTimeout, the child throws: 255 of the child
group in a group, the child exits: 3 -
group in a group, the child returns: 255 The child of a fork cannot return from a function that group
group in a group, the child throws: 255 of the child
map, the child exits: 3 -
map, the child returns: 255 The child of a fork cannot return from a function that group
map, the child throws: 255 of the child
race, the child exits: 3 -
race, the child returns: 255 The child of a fork cannot return from a function that group
race, the child throws: 255 of the child
