<?php

/** A page of a shop, written as one writes PHP: one call after the other. `make demo` runs it. */

declare(strict_types=1);

require __DIR__ . '/shop.php';

$page = [];
$page['products'] = products();
$page['best_sellers'] = best_sellers(3);
$page['stock'] = [];
foreach (array_column($page['products'], 'sku') as $sku) {
    $page['stock'][$sku] = stock($sku);
}
$page['reviews'] = reviews();
$page['rates'] = exchange_rates();
$page['announcement'] = announcement();
$page['lines'] = lines_in_announcement();
$page['shipping_days'] = shipping_days();
if (getenv('DEMO_SERVERS') === '1') {
    $page['regions'] = orders_by_region();
    $page['visits'] = visits_by_page();
    $page['customers'] = customers_online();
}

echo json_encode($page, JSON_THROW_ON_ERROR | JSON_PRETTY_PRINT), "\n";
