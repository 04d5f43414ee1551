<?php

/** What a warehouse has in stock, asked by Guzzle: all products at once. One line is different from warehouse.php. `make demo` runs it. */

require 'GuzzleHttp/autoload.php'; // as Debian installs it; with Composer it is vendor/autoload.php

$warehouse = new GuzzleHttp\Client(['base_uri' => getenv('SHOP_SERVICE')]);
$stock = fn (string $sku): int => json_decode($warehouse->get("/stock/$sku")->getBody())->stock;

$skus = ['apron', 'basket', 'candle', 'drum', 'easel', 'flute', 'globe', 'harp'];
$all = Async\map($skus, $stock);

echo json_encode(array_combine($skus, $all)), "\n";
