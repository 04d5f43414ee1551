<?php

declare(strict_types=1);

namespace Spindle\Symfony;

use Symfony\Component\ErrorHandler\BufferingLogger;
use Symfony\Component\ErrorHandler\ErrorHandler;
use Symfony\Component\Runtime\Internal\SymfonyErrorHandler;

/**
 * Is the option `error_handler` of the runtime, if the application sets none: registers Symfony's handler of errors as the runtime does,
 * but leaves two things out, which are the process's. It lets the autoloaders be, which Symfony replaces while debugging, and shows no
 * errors, which Symfony does where PHP_SAPI says that this is a command.
 */
final class Errors
{
    public static function register(bool $isDebug): void
    {
        $shown = \ini_get('display_errors');
        SymfonyErrorHandler::register(false); // which knows what this version of Symfony wants to be reported
        \ini_set('display_errors', $shown);
        if ($isDebug) {
            \restore_error_handler();
            \restore_exception_handler();
            if (\ini_get('zend.assertions') >= 0) {
                \ini_set('zend.assertions', 1);
            }
            ErrorHandler::register(new ErrorHandler(new BufferingLogger(), true));
        }
    }
}
