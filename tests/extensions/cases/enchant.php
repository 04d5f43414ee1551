<?php
namespace Matrix;

check('enchant_broker_dict_exists', static fn($broker, int $n) => \enchant_broker_dict_exists($broker, text("xx$n")), static fn() => \enchant_broker_init(), in: 'enchant_broker_dict_exists');
check('enchant_broker_set_ordering', static fn($broker, int $n) => \enchant_broker_set_ordering($broker, text("xx$n"), text('hunspell')), static fn() => \enchant_broker_init(), in: 'enchant_broker_set_ordering');
