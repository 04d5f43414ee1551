<?php

/** The packages that no distribution has: those in the folder that SPINDLE_SOURCES names, as OWNER/NAME. */

declare(strict_types=1);

namespace Sources;

/** @return array<string, array{string, array<string, mixed>}> the folder and composer.json of each, by the name that this has */
function packages(): array
{
    static $packages;
    if ($packages === null) {
        $packages = [];
        $sources = rtrim((string) getenv('SPINDLE_SOURCES'), '/');
        foreach ($sources === '' ? [] : glob("$sources/*/*/composer.json") as $file) {
            $about = json_decode(file_get_contents($file), true, 512, JSON_THROW_ON_ERROR);
            if (isset($about['name'])) {
                $packages[$about['name']] = [dirname($file), $about];
            }
        }
    }
    return $packages;
}
