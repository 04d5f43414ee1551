<?php

/**
 * The suites. Of each:
 *
 *     source       the source package of its tests, and of the code unless `packages` has that
 *     sources      instead: OWNER/NAME in the folder that SPINDLE_SOURCES names; its composer.json says where classes are
 *     without      packages that are not taken from there, as the distribution has the version that fits
 *     copies       packages of there that are to be in its folder `vendor`, as they look for `vendor/autoload.php` from there
 *     tests        the folder of its tests there (tests)
 *     contract     they are tests of what stock PHP does not have: all have to pass, but for `skips`
 *     parts        what of it is wanted (default: all)
 *     packages     packages that are unpacked (never installed) for the code it uses
 *     map          where its classes are: folders in the source, by namespace
 *     files        files with functions, in the source or the packages
 *     aliases      names of classes that its bootstrap would make
 *     links        paths in the source that lead into the packages
 *     edits        texts to replace in its files, mostly the addresses of servers
 *     folder       where in the source it runs (default: its top)
 *     arguments    PHPUnit's arguments; here and in what follows {NAME} is a variable of the environment
 *     script       a script that runs the tests instead of PHPUnit, and `outcomes`, which reads them from its output
 *     environment  further variables
 *     servers      servers of scripts/servers, fresh ones for each run; `prepare` has shell commands
 *                  for when they are up, which run at the top of the source
 *     extensions   modules that are not enabled by the distribution's configuration as scripts/setup leaves it
 *     sample       further arguments that make a short run of it
 *
 * One that has only `source` has not been written yet, as its source package was not to be had; one that has only `absent`
 * is not packaged. Both are named by each run.
 */

$symfony = ['Symfony\\' => 'src/Symfony'];
$symfonyFiles = ['src/Symfony/Contracts/Deprecation/function.php', 'src/Symfony/Component/String/Resources/functions.php',
    'src/Symfony/Component/VarDumper/Resources/functions/dump.php', 'GuzzleHttp/Promise/functions_include.php',
        'Amp/functions.php',
    'Symfony/Polyfill/Intl/Normalizer/Resources/stubs/Normalizer.php'];
$psr = ['php-psr-log', 'php-psr-cache', 'php-psr-simple-cache', 'php-psr-container', 'php-psr-event-dispatcher',
    'php-psr-link',
    'php-psr-http-client', 'php-psr-http-factory', 'php-psr-http-message'];
$symfonyOf = static fn (string $component, array $more = []) => [
    'environment' => ['SYMFONY_DEPRECATIONS_HELPER' => 'disabled', 'SYMFONY_PHPUNIT_VERSION' => '9.6',
        ...$more['environment'] ?? []],
    'packages' => [...$psr, ...$more['packages'] ?? []],
] + $more + ['source' => 'symfony', 'map' => $symfony, 'files' => $symfonyFiles,
    'folder' => "src/Symfony/Component/$component"];

$redis = '{SPINDLE_REDIS_HOST}:{SPINDLE_REDIS_PORT}';
// Symfony's tests know one user of PostgreSQL, and no port.
$postgres = ['POSTGRES_HOST' => '{SPINDLE_PG_HOST}', 'PGPORT' => '{SPINDLE_PG_PORT}'];
$postgresUser = ["PGPASSWORD='{SPINDLE_PG_PASSWORD}' psql -h {SPINDLE_PG_HOST} -p {SPINDLE_PG_PORT} -U {SPINDLE_PG_USER} -d postgres "
    . "-c \"create role postgres superuser login password 'password'\""];

// The object-relational mapper uses most of doctrine/dbal.
$doctrineOn = static fn (array $parameters, array $more = []) => $more + ['source' => 'doctrine',
    'packages' => ['php-doctrine-orm', 'php-doctrine-dbal', 'php-doctrine-cache', 'php-doctrine-annotations',
        'php-symfony-cache', 'php-symfony-yaml',
        'php-symfony-console', 'php-symfony-var-exporter'],
    'map' => ['Doctrine\\ORM\\' => 'lib/Doctrine/ORM', 'Doctrine\\Tests\\' => 'tests/Doctrine/Tests',
        'Doctrine\\StaticAnalysis\\' => 'tests/Doctrine/StaticAnalysis'],
    'files' => ['Symfony/Contracts/Deprecation/function.php', 'Symfony/Component/String/Resources/functions.php',
        'tests/Doctrine/Tests/TestInit.php'],
    'edits' => ['phpunit.xml.dist' => ['<var name="db_driver" value="pdo_sqlite"/>' => implode('', array_map(
        static fn (string $name, string $value) => "<var name=\"db_$name\" value=\"$value\"/>", array_keys($parameters),
            $parameters)),
        '<var name="db_memory" value="true"/>' => '']],
];
$mariadb = ['host' => '{SPINDLE_MYSQL_HOST}', 'port' => '{SPINDLE_MYSQL_PORT}', 'user' => '{SPINDLE_MYSQL_USER}',
    'password' => '{SPINDLE_MYSQL_PASSWORD}', 'dbname' => 'doctrine_tests'];

return [
    'monolog' => ['source' => 'php-monolog', 'map' => ['Monolog\\' => ['src/Monolog', 'tests/Monolog']],
        'aliases' => ['PHPUnit_Framework_TestCase' => 'PHPUnit\\Framework\\TestCase'],
        'packages' => ['php-psr-log', 'php-predis', 'php-amqplib', 'php-guzzlehttp-guzzle', 'php-phpspec-prophecy'],
        'sample' => []],
    'promises' => ['source' => 'php-guzzlehttp-promises', 'map' => ['GuzzleHttp\\Promise\\Tests\\' => 'tests',
        'GuzzleHttp\\Promise\\' => 'src'],
        'files' => ['src/functions_include.php'], 'sample' => []],
    'psr7' => ['source' => 'php-guzzlehttp-psr7', 'map' => ['GuzzleHttp\\Tests\\Psr7\\' => 'tests',
        'GuzzleHttp\\Psr7\\' => 'src'],
        'packages' => ['php-psr-http-factory', 'php-psr-http-message', 'php-getallheaders',
            'php-http-interop-http-factory-tests'],
        'links' => ['vendor/http-interop/http-factory-tests/test' => 'usr/share/php/Interop/Http/Factory'], 'sample' => []],
    'symfony-process' => $symfonyOf('Process', ['sample' => [],
        'parts' => ['src/Symfony/Component/Process', 'src/Symfony/Contracts', 'src/Symfony/Bridge/PhpUnit']]),
    'symfony-lock' => $symfonyOf('Lock', ['packages' => ['php-predis', 'php-doctrine-dbal'], 'servers' => ['redis',
        'memcached', 'postgres'],
        'environment' => ['REDIS_HOST' => $redis, 'MEMCACHED_HOST' => '127.0.0.1:{SPINDLE_MEMCACHED_PORT}', ...$postgres],
        'prepare' => $postgresUser, 'extensions' => ['msgpack', 'memcached']]),
    'symfony-cache' => $symfonyOf('Cache', ['packages' => ['php-predis', 'php-doctrine-dbal', 'php-doctrine-cache',
        'php-cache-integration-tests'],
        'servers' => ['redis', 'memcached', 'postgres'], 'prepare' => $postgresUser, 'extensions' => ['msgpack',
            'memcached'],
        'environment' => ['REDIS_HOST' => $redis, 'REDIS_SOCKET' => '{SPINDLE_REDIS_SOCKET}',
            'MEMCACHED_HOST' => '127.0.0.1:{SPINDLE_MEMCACHED_PORT}', ...$postgres]]),
    'symfony-http-client' => $symfonyOf('HttpClient', ['packages' => ['php-guzzlehttp-promises', 'php-amphp-amp',
        'php-nyholm-psr7', 'php-http-httplug']]),
    'symfony-messenger' => $symfonyOf('Messenger', [
        'edits' => ['src/Symfony/Component/Messenger/phpunit.xml.dist' => ['./Tests/</directory>' => './Tests/</directory><directory>./Bridge/*/Tests/</directory>']],
        'packages' => ['php-doctrine-dbal', 'php-doctrine-orm', 'php-symfony-polyfill-intl-normalizer'],
        'servers' => ['redis', 'postgres', 'rabbitmq'],
        'prepare' => $postgresUser, 'extensions' => ['amqp'], 'environment' => ['REDIS_HOST' => $redis,
            'MESSENGER_REDIS_DSN' => "redis://$redis/messages",
            'MESSENGER_AMQP_DSN' => 'amqp://guest:guest@127.0.0.1:{SPINDLE_RABBITMQ_PORT}/%2f/messages', ...$postgres]]),
    'phpredis' => ['source' => 'php-redis', 'script' => 'tests/TestRedis.php', 'folder' => 'tests', 'servers' => ['redis'],
        'arguments' => ['--class', 'redis', '--nocolors', '--host', '{SPINDLE_REDIS_HOST}', '--port',
            '{SPINDLE_REDIS_PORT}'],
        'outcomes' => static function (string $output): array {
            preg_match_all('/^(test\w+)\s.*?\[(PASSED|FAILED|SKIPPED)\]\r?$/ms', $output, $found);
            return array_combine($found[1], array_map(strtolower(...), $found[2]));
        }],
    'doctrine-sqlite' => $doctrineOn(['driver' => 'pdo_sqlite', 'memory' => 'true']),
    'doctrine-mysqli' => $doctrineOn(['driver' => 'mysqli', ...$mariadb], ['servers' => ['mariadb']]),
    'doctrine-pdo-mysql' => $doctrineOn(['driver' => 'pdo_mysql', ...$mariadb], ['servers' => ['mariadb']]),
    'doctrine-pgsql' => $doctrineOn(['driver' => 'pdo_pgsql', 'host' => '{SPINDLE_PG_HOST}', 'port' => '{SPINDLE_PG_PORT}',
        'user' => '{SPINDLE_PG_USER}',
        'password' => '{SPINDLE_PG_PASSWORD}', 'dbname' => 'doctrine_tests'], ['servers' => ['postgres']]),
    'guzzle' => ['source' => 'guzzle'],
    'predis' => ['source' => 'php-nrk-predis'],
    'doctrine-dbal' => ['source' => 'php-doctrine-dbal'],
    'amqplib' => ['source' => 'php-amqplib'],
    'react-promise' => ['source' => 'php-react-promise', 'map' => ['React\\Promise\\' => ['src', 'tests', 'tests/fixtures']],
        'files' => ['src/functions_include.php'], 'sample' => []],
    'amp' => ['source' => 'amphp-amp', 'packages' => ['php-react-promise'], 'map' => ['Amp\\Test\\' => 'test', 'Amp\\' => 'lib'],
        'files' => ['lib/functions.php', 'lib/Internal/functions.php', __DIR__ . '/amphp-phpunit-util.php'], 'sample' => []],
];
