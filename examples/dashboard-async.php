<?php

/**
 * The same page from the very same functions. Each call is wrapped in spawn(), its result fetched by await(); that is
 * all that changed. `make demo` runs it.
 */

declare(strict_types=1);

use function Async\await;
use function Async\spawn;

require __DIR__ . '/shop.php';

$page = [];
$page['products'] = spawn('products');
$page['best_sellers'] = spawn('best_sellers', 3);
$page['stock'] = spawn(function (): array {
    $stock = [];
    foreach (array_column(products(), 'sku') as $sku) {
        $stock[$sku] = spawn('stock', $sku);
    }
    return array_map('Async\await', $stock);
});
$page['reviews'] = spawn('reviews');
$page['rates'] = spawn('exchange_rates');
$page['announcement'] = spawn('announcement');
$page['lines'] = spawn('lines_in_announcement');
$page['shipping_days'] = spawn('shipping_days');
if (getenv('DEMO_SERVERS') === '1') {
    $page['regions'] = spawn('orders_by_region');
    $page['visits'] = spawn('visits_by_page');
    $page['customers'] = spawn('customers_online');
}
$page = array_map('Async\await', $page);

echo json_encode($page, JSON_THROW_ON_ERROR | JSON_PRETTY_PRINT), "\n";
