--TEST--
H16 an object whose iterator is the same one each time: loops over it, in and beside coroutines, and its end
--EXTENSIONS--
intl
--FILE--
<?php
use function Async\{await, spawn, suspend};

$zones = IntlTimeZone::createEnumeration('DE');
foreach ($zones as $first) break;
foreach ($zones as $again) break;
echo $first, ' ', $again, "\n";

$jobs = [];
for ($i = 0; $i < 3; $i++) {
    $jobs[] = spawn(function () use ($zones) {
        foreach ($zones as $zone) {
            suspend();
            return $zone;
        }
    });
}
foreach ($jobs as $job) echo await($job), "\n";
echo count(iterator_to_array($zones, false)) === count(iterator_to_array(IntlTimeZone::createEnumeration('DE'), false)) ? 'as many' : 'fewer', "\n";
unset($zones);
echo "let go\n";
?>
--EXPECTF--
Europe/Berlin Europe/Berlin
Europe/Berlin
Europe/Berlin
Europe/Berlin
as many
let go
