<?php
// needs: php-doctrine-dbal

namespace Orms;

require dirname(__DIR__) . '/doctrine.php';

inApplication(static fn () => new Dbal(connection()));
