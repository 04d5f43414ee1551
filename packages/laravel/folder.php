<?php

declare(strict_types=1);

/**
 * Includes the autoloader of the application, and nothing else of it, since what is made before the first instance is shared by all.
 * It is the application in the folder that is named, or else in the working directory, or the one that has this package in vendor/.
 */

return static function (?string $named): string {
    $folders = $named === null ? [getcwd(), dirname(__DIR__, 3)] : [$named];
    foreach ($folders as $folder) {
        if (is_file("$folder/bootstrap/app.php") && is_file("$folder/vendor/autoload.php")) {
            require_once "$folder/vendor/autoload.php";
            return realpath($folder);
        }
    }
    throw new RuntimeException('There is no Laravel application, with bootstrap/app.php and vendor/autoload.php, in ' . implode(', ', $folders));
};
