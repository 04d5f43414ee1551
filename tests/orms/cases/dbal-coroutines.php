<?php
// needs: php-doctrine-dbal

namespace Orms;

require dirname(__DIR__) . '/doctrine.php';

inCoroutines(static fn () => new Dbal(connection()));
