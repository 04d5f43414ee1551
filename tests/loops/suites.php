<?php

/**
 * Suites of event loops in PHP, and of the libraries on them. What the entries mean: tests/applications/suites.php. The sources
 * are not packaged: they are in the folder that SPINDLE_SOURCES names, as OWNER/NAME.
 *
 * Those of the packages are Revolt's and ReactPHP's own contracts of drivers and loops. All others run on stream_select(), as on
 * stock PHP, with the same outcomes.
 */

$package = static fn (string $name) => dirname(__DIR__, 2) . "/packages/$name/src";
$amphp = static fn (string $name, array $more = []) => $more + ['sources' => "amphp/$name", 'tests' => 'test'];
$reactphp = static fn (string $name, array $more = []) => $more + ['sources' => "reactphp/$name"];
$driver = ['sources' => 'revoltphp/event-loop', 'tests' => 'test', 'map' => ['Spindle\\Revolt\\' => $package('revolt-driver')]];
$loop = $reactphp('event-loop', ['map' => ['Spindle\\React\\' => $package('react-loop')]]);

return [
    'revolt-driver' => [...$driver, 'contract' => true, 'arguments' => [__DIR__ . '/SpindleDriverTest.php']],
    'react-loop' => [...$loop, 'contract' => true, 'arguments' => [__DIR__ . '/SpindleLoopTest.php'],
        'skips' => ['SpindleLoopTest::testSignal']],
    'revolt' => $driver,
    'amphp-amp' => $amphp('amp'),
    'amphp-byte-stream' => $amphp('byte-stream'),
    'amphp-sync' => $amphp('sync'),
    'amphp-pipeline' => $amphp('pipeline'),
    'amphp-cache' => $amphp('cache'),
    'amphp-parser' => $amphp('parser'),
    'amphp-serialization' => $amphp('serialization'),
    'amphp-process' => $amphp('process'),
    'amphp-socket' => $amphp('socket'),
    'react' => $loop,
    'react-promise-3' => $reactphp('promise'),
    'react-promise-timer' => $reactphp('promise-timer'),
    'react-async' => $reactphp('async'),
    'react-cache' => $reactphp('cache'),
    'react-dns' => $reactphp('dns'),
    'react-stream' => $reactphp('stream'),
    'react-socket' => $reactphp('socket'),
    'react-http' => $reactphp('http', ['packages' => ['php-psr-http-message', 'php-fig-http-message-util']]),
];
