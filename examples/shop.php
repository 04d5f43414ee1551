<?php

/**
 * What a page of a shop asks for: ordinary synchronous functions over ordinary extensions.
 *
 * Nothing here knows of Spindle. `dashboard.php` calls these functions one after the other, `dashboard-async.php` calls
 * the very same ones concurrently. `examples/demo.php` provides the database, the file and the service they use and
 * says where they are in the environment.
 */

declare(strict_types=1);

/** A part of the environment that must be set. */
function shop_setting(string $name): string
{
    $value = getenv($name);
    if ($value === false) {
        throw new RuntimeException("$name is not set: start this page with examples/demo.php");
    }
    return $value;
}

/** PDO, SQLite. Each call has a connection of its own, as transactions belong to connections. */
function shop_database(): PDO
{
    return new PDO('sqlite:' . shop_setting('SHOP_DATABASE'));
}

/** @return list<array{sku: string, name: string, cents: int}> */
function products(): array
{
    return shop_database()
        ->query('SELECT sku, name, cents FROM products ORDER BY sku')
        ->fetchAll(PDO::FETCH_ASSOC);
}

/** @return array<string, int> cents sold, by product */
function best_sellers(int $limit): array
{
    $statement = shop_database()->prepare(
        'SELECT sku, SUM(amount * cents) AS sold FROM sales JOIN products USING (sku)
         GROUP BY sku ORDER BY sold DESC LIMIT ?'
    );
    $statement->bindValue(1, $limit, PDO::PARAM_INT);
    $statement->execute();
    return $statement->fetchAll(PDO::FETCH_KEY_PAIR);
}

/** cURL: what a warehouse has of a product. */
function stock(string $sku): int
{
    $curl = curl_init(shop_setting('SHOP_SERVICE') . '/stock/' . rawurlencode($sku));
    curl_setopt_array($curl, [CURLOPT_RETURNTRANSFER => true, CURLOPT_FAILONERROR => true, CURLOPT_TIMEOUT => 10]);
    $body = curl_exec($curl);
    if ($body === false) {
        throw new RuntimeException("stock of $sku: " . curl_error($curl));
    }
    return json_decode($body, true, flags: JSON_THROW_ON_ERROR)['stock'];
}

/** HTTP by a stream: what customers say. */
function reviews(): array
{
    return shop_get('/reviews');
}

/** HTTP by a stream: what a currency is worth. */
function exchange_rates(): array
{
    return shop_get('/rates');
}

function shop_get(string $path): array
{
    $body = file_get_contents(shop_setting('SHOP_SERVICE') . $path);
    if ($body === false) {
        throw new RuntimeException("no answer to $path");
    }
    return json_decode($body, true, flags: JSON_THROW_ON_ERROR);
}

/** A file. */
function announcement(): string
{
    return trim(file_get_contents(shop_setting('SHOP_ANNOUNCEMENT')));
}

/** A process: some tool from long ago, slow to start. */
function lines_in_announcement(): int
{
    return (int) shell_exec('sleep 0.2; wc -l < ' . escapeshellarg(shop_setting('SHOP_ANNOUNCEMENT')));
}

/** A pause, as one keeps between calls to a service that counts them. */
function shipping_days(): int
{
    usleep(150_000);
    return 3;
}

// With DEMO_SERVERS=1 there are servers of these three kinds, too.

/** PDO, PostgreSQL: orders by region, a query that takes its time. */
function orders_by_region(): array
{
    $database = new PDO(shop_setting('SPINDLE_PG_DSN'));
    return $database
        ->query('SELECT region, count(*) AS orders, sum(cents) AS cents
                 FROM orders, pg_sleep(0.25) GROUP BY region ORDER BY region')
        ->fetchAll(PDO::FETCH_ASSOC);
}

/** mysqli, MariaDB: visits by page. */
function visits_by_page(): array
{
    $database = new mysqli(
        shop_setting('SPINDLE_MYSQL_HOST'),
        shop_setting('SPINDLE_MYSQL_USER'),
        shop_setting('SPINDLE_MYSQL_PASSWORD'),
        shop_setting('SPINDLE_MYSQL_DB'),
        (int) shop_setting('SPINDLE_MYSQL_PORT'),
    );
    return $database
        ->query('SELECT page, sum(visits) AS visits FROM visits, (SELECT sleep(0.25)) AS pause
                 GROUP BY page ORDER BY page')
        ->fetch_all(MYSQLI_ASSOC);
}

/** phpredis: waits a moment whether there is news, and says how many customers are here. */
function customers_online(): array
{
    $redis = new Redis();
    $redis->connect(shop_setting('SPINDLE_REDIS_HOST'), (int) shop_setting('SPINDLE_REDIS_PORT'));
    return [
        'news' => $redis->xRead(['shop:news' => '$'], 1, 250),
        'online' => (int) $redis->get('shop:online'),
    ];
}
