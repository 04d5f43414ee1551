<?php
// needs: php-illuminate-database php-illuminate-events

namespace Orms;

require dirname(__DIR__) . '/eloquent.php';

inInstances(static fn () => new Eloquent(manager()->getConnection()));
