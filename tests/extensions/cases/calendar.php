<?php
namespace Matrix;

check('cal_days_in_month', static fn($_, int $n) => noisily(fn() => \cal_days_in_month(CAL_GREGORIAN, $n + 0.5, 2000)), in: 'cal_days_in_month');
check('cal_info', static fn($_, int $n) => noisily(fn() => \cal_info($n + 0.5)), in: 'cal_info');
check('cal_from_jd', static fn($_, int $n) => noisily(fn() => \cal_from_jd(2450000.5 + $n, CAL_JULIAN)), in: 'cal_from_jd');
check('jdtojewish', static fn($_, int $n) => noisily(fn() => \jdtojewish(2450000.5 + $n, true)), in: 'jdtojewish');
check('jdmonthname', static fn($_, int $n) => noisily(fn() => \jdmonthname(2450000 + 40 * $n, 0.5)), in: 'jdmonthname');
check('easter_date', static fn($_, int $n) => noisily(fn() => \easter_date(2000.5 + $n)), in: 'easter_date');
check('unixtojd', static fn($_, int $n) => noisily(fn() => \unixtojd(86400 * $n + 0.5)), in: 'unixtojd');
