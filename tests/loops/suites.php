<?php

/**
 * Suites of event loops in PHP, and of the libraries on them. What the entries mean: tests/applications/suites.php. The sources
 * are not packaged: they are in the folder that SPINDLE_SOURCES names, as OWNER/NAME.
 *
 * Those of the packages are Revolt's and ReactPHP's own contracts of drivers and loops. All others run on stream_select(), as on
 * stock PHP, with the same outcomes; those of NAME-on-spindle run on the packages' loop or driver, and are compared with
 * stream_select() on stock PHP.
 */

$package = static fn (string $name) => dirname(__DIR__, 2) . "/packages/$name/src";
$amphp = static fn (string $name, array $more = []) => $more + ['sources' => "amphp/$name", 'tests' => 'test'];
$reactphp = static fn (string $name, array $more = []) => $more + ['sources' => "reactphp/$name"];
$packages = ['Spindle\\Revolt\\' => $package('revolt-driver'), 'Spindle\\React\\' => $package('react-loop')];
$driver = ['sources' => 'revoltphp/event-loop', 'tests' => 'test', 'map' => $packages];
$loop = $reactphp('event-loop', ['map' => $packages]);
$packaged = static fn (string $folder) => dirname(__DIR__, 2) . "/build/applications/unpacked/usr/share/php/$folder";
$sources = rtrim((string) getenv('SPINDLE_SOURCES'), '/');
// Tests of servers in the internet are left out: it may not be there, and they would wait for it. AMPHP has no group of them.
$offline = ['arguments' => ['--exclude-group', 'internet']];
$without = static fn (string $class) => ['arguments' => ['--filter', "/^(?!.*\\\\$class::)/"]];
$suites = [
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
    // Its certificates have expired.
    'amphp-socket' => $amphp('socket', $without('IntegrationTest') + ['prepare' => ['cd test/tls && bash regenerate.sh']]),
    'amphp-dns' => $amphp('dns', $without('IntegrationTest')),
    'amphp-parallel' => $amphp('parallel'),
    'amphp-http' => $amphp('http'),
    'amphp-http-server' => $amphp('http-server'),
    'amphp-http-client' => $amphp('http-client', $without('ClientHttpBinIntegrationTest') + ['copies' => ['amphp/parallel']]),
    'react' => $loop,
    'react-promise-3' => $reactphp('promise'),
    'react-promise-timer' => $reactphp('promise-timer'),
    'react-async' => $reactphp('async'),
    'react-cache' => $reactphp('cache'),
    'react-dns' => $reactphp('dns', $offline),
    'react-stream' => $reactphp('stream', $offline),
    'react-socket' => $reactphp('socket', $offline),
    // Its classes have no types where those of psr/http-message 2 have.
    'react-http' => $reactphp('http', $offline + ['packages' => ['php-psr-http-message', 'php-fig-http-message-util'],
        'without' => ['psr/http-message'], 'map' => ['Fig\\Http\\Message\\' => $packaged('Fig/HttpMessageUtil')]]),
];

// The same once more, on the packages' loop and driver: those that use the loop that is set.
foreach (['react-promise-timer', 'react-async', 'react-dns', 'react-socket', 'react-http',
    'amphp-amp', 'amphp-byte-stream', 'amphp-process', 'amphp-socket', 'amphp-http-server'] as $name) {
    $suites["$name-on-spindle"] = ['files' => [__DIR__ . '/on-spindle.php'], 'map' => ($suites[$name]['map'] ?? []) + $packages]
        + $suites[$name];
}
return $suites;
