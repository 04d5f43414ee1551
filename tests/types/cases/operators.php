<?php
declare(strict_types=1);
require_once __DIR__ . '/../kit.php';

use function Async\await;
use function Async\Syntax\call;

// What `spindle transpile` makes of `spawn price('tea')`, and of `spawn $shop?->price('tea')`.
$coroutine = call(price(...))('tea');
takes_int($coroutine->getId());
takes_int($coroutine); // ERROR
await($coroutine);

final class Shop
{
    public function price(string $item): int { return strlen($item); }
}
function shop(): ?Shop { return new Shop; }
call(shop(), fn (Shop $shop) => $shop->price(...))?->__invoke('tea')->getId();
call(shop(), fn (Shop $shop) => $shop->price(...))->__invoke('tea'); // ERROR
