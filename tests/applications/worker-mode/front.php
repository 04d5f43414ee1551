<?php

/** What php-fpm runs for each request: the application of WORKER_MODE_APPLICATION. */

define('WORK', getenv('WORKER_MODE_FOLDER'));
(require __DIR__ . '/' . getenv('WORKER_MODE_APPLICATION') . '.php')();
