<?php
declare(strict_types=1);
require_once __DIR__ . '/../kit.php';

use function Async\await;
use function Async\Syntax\call;

// What `spindle transpile` makes of `spawn price('tea')`. Mago does not know the result of an object that is called, without a name.
await(call(price(...))('tea'));
takes_int(await(call(price(...))->__invoke('tea')));
takes_string(await(call(price(...))->__invoke('tea'))); // ERROR
