<?php
/*
 * Runs one case.
 *
 *   php worker.php CASE
 *
 * EXTENSIONS_OUT names the file for what is seen, EXTENSIONS_TMP a scratch folder.
 */
namespace Extensions;

require __DIR__ . '/lib.php';

Report::open();
Flows::$extension = \strtolower($argv[2] ?? \basename($argv[1], ".php"));
Flows::$extension = ['opcache' => 'zend opcache'][Flows::$extension] ?? Flows::$extension; // its name in PHP
require $argv[1];
Report::all_done();
