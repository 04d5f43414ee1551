<?php

declare(strict_types=1);

namespace Spindle\Symfony;

use Symfony\Component\ErrorHandler\BufferingLogger;
use Symfony\Component\ErrorHandler\ErrorHandler;

/**
 * Is the option `error_handler` of the runtime, if the application sets none: registers Symfony's handler of errors as the runtime does,
 * but leaves two things out, which are the process's. It lets the autoloaders be, which Symfony replaces while debugging, and shows no
 * errors, which Symfony does where PHP_SAPI says that this is a command.
 */
final class Errors
{
    public static function register(bool $isDebug): void
    {
        \error_reporting(-1);
        if (\ini_get('zend.assertions') >= 0) {
            \ini_set('zend.assertions', (int) $isDebug);
        }
        ErrorHandler::register(new ErrorHandler(new BufferingLogger(), $isDebug));
    }
}
