<?php
/* EXT-1: the table's layout, and other versions of it. */

namespace Authors;

$cases['abi: the layout of version 1, in C and C++'] = static function (): void {
    compile('abi.so', [HERE . '/abi.c']);
    compile('abi-c99.so', [HERE . '/abi.c'], ['-std=gnu99']);
    // PHP's headers are not clean as C++.
    compile('abi-cpp.so', ['-x', 'c++', HERE . '/abi.c'], ['-std=c++17'], 'c++');
};

$cases['abi: the table that is loaded is that of the header'] = static function (): void {
    $lines = (string) shell_exec('nm -DS --defined-only ' . escapeshellarg(EXTENSION));
    same(1, preg_match('/^\w+ (\w+) [DRB] spindle_api$/m', $lines, $found));
    same(144, hexdec($found[1]));
};

foreach (['a longer table' => [152, "bool(true)\nint(42)\n"], 'a shorter one is none' => [136, "bool(false)\n"]] as $name => [$size, $expected]) {
    $cases["abi: $name"] = static function () use ($size, $expected): void {
        $fake = compile("fake$size.so", [HERE . '/fake.c'], ["-DSIZE=$size", '-Wno-missing-field-initializers']);
        same($expected, php('var_dump(probe_loaded()); if (probe_loaded()) { var_dump(probe_current()); }', [$fake, probe()]));
    };
}

$cases['abi: a module without a table'] = static function (): void {
    $fake = compile('fake-none.so', [HERE . '/fake.c'], ['-DWITHOUT_TABLE', '-Wno-missing-field-initializers']);
    same("bool(false)\n", php('var_dump(probe_loaded());', [$fake, probe()]));
};

$cases['abi: without Spindle'] = static function (): void {
    same("bool(false)\n", php('var_dump(probe_loaded());', [probe()]));
};

$cases['abi: in any order of loading'] = static function (): void {
    same("bool(true)\n", php('var_dump(probe_loaded());', [probe(), EXTENSION]));
    same("bool(true)\n", php('var_dump(probe_loaded());', [EXTENSION, probe()]));
};
