<?php

/** What Composer leaves of an installation, as far as Symfony asks. */

namespace Composer;

if (!class_exists(InstalledVersions::class)) {
    final class InstalledVersions
    {
        public static function isInstalled(string $package, bool $dev = true): bool
        {
            return $package !== 'symfony/symfony'; // which is all of Symfony as one
        }

        public static function getRootPackage(): array
        {
            return ['name' => 'app/app'];
        }
    }
}
