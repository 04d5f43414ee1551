<?php

/** What a warehouse has in stock, asked by Guzzle: one product after the other. `make demo` runs it. */

require 'GuzzleHttp/autoload.php'; // as Debian installs it; with Composer it is vendor/autoload.php

$warehouse = new GuzzleHttp\Client(['base_uri' => getenv('SHOP_SERVICE')]);
$stock = fn (string $sku): int => json_decode($warehouse->get("/stock/$sku")->getBody())->stock;

$skus = ['apron', 'basket', 'candle', 'drum', 'easel', 'flute', 'globe', 'harp'];
$all = array_map($stock, $skus);

echo json_encode(array_combine($skus, $all)), "\n";
