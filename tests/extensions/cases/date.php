<?php
namespace Matrix;

check('date', static fn($_, int $n) => \date(text('Y-m-d'), 86400 * $n), in: 'date');
check('strtotime', static fn($_, int $n) => \strtotime(text("2020-01-0$n UTC")), in: 'strtotime');
check('DateTime', static fn($_, int $n) => (new \DateTime(text("2020-01-0$n"), new \DateTimeZone('UTC')))->format(text('c')), in: ['DateTime::__construct', 'DateTime::format']);
check('DateTime::modify', static fn($date, int $n) => noisily(fn() => $date->modify(text("+$n day"))->format('d')), static fn() => new \DateTime('2020-01-01'), in: 'DateTime::modify');
// The methods throw, from PHP 8.3 on.
check('date_modify, wrong', static fn($date, int $n) => noisily(fn() => \date_modify($date, "nonsense $n")), static fn() => new \DateTime('2020-01-01'), in: 'date_modify');
check('date_create and its errors', static fn($_, int $n) => [\date_create(text("2020-0$n-99")), \date_get_last_errors()['error_count']], in: 'date_create');
check('DateTime::createFromFormat', static fn($_, int $n) => \DateTime::createFromFormat(text('!Y-m-d'), text("2020-01-0$n"))->format('c'), in: 'DateTime::createFromFormat');
check('DateTimeZone', static fn($_, int $n) => (new \DateTimeZone(text([1 => 'Europe/Berlin', 2 => 'Asia/Tokyo'][$n])))->getOffset(new \DateTime('2020-01-01')), in: 'DateTimeZone::__construct');
check('DateInterval::format', static fn($interval, int $n) => $interval->format(text("%d-$n")), static fn() => new \DateInterval('P3D'), in: 'DateInterval::format');
check('date_interval_create_from_date_string', static fn($_, int $n) => noisily(fn() => \date_interval_create_from_date_string("nonsense $n")), in: 'date_interval_create_from_date_string');
check('mktime', static fn($_, int $n) => noisily(fn() => \gmmktime(1.5, $n, 0, 1, 1, 2020)), in: 'gmmktime');
check('date_default_timezone_set', static fn($_, int $n) => noisily(fn() => \date_default_timezone_set("Nowhere/$n")), in: 'date_default_timezone_set');
check('strftime', static fn($_, int $n) => noisily(fn() => \strftime("%Y $n", 0)), anywhere: true);
check('date_sunrise', static fn($_, int $n) => noisily(fn() => \date_sunrise(86400 * $n, SUNFUNCS_RET_STRING, 50, 8, 90, 0)), anywhere: true);
check('unserialize a DateTime', static fn($_, int $n) => noisily(fn() => \unserialize('O:8:"DateTime":3:{s:4:"date";s:26:"2020-01-0' . $n . ' 00:00:00.000000";s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";}')->format(text('c'))), in: 'DateTime::format');
// It keeps its place in itself: two loops over one disturb each other, nested ones too.
check('DatePeriod', static function ($period, int $n) { foreach ($period as $day) { $days[] = $day->format(text('d')); } return $days; }, static fn() => new \DatePeriod(new \DateTime('2020-01-01'), new \DateInterval('P1D'), 3), apart: true, in: 'DateTime::format');
