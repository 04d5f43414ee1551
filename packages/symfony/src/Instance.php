<?php

declare(strict_types=1);

namespace Spindle\Symfony;

use Symfony\Component\Console\Application;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\ErrorHandler\ErrorHandler;
use Symfony\Component\ErrorHandler\ErrorRenderer\HtmlErrorRenderer;
use Symfony\Component\HttpKernel\HttpKernelInterface;
use Symfony\Component\HttpKernel\KernelInterface;
use Symfony\Component\Runtime\RuntimeInterface;

/** An instance of an application, which handles a request at a time. It is made by the boot of the instance. */
final class Instance
{
    private const FATAL = \E_ERROR | \E_PARSE | \E_CORE_ERROR | \E_COMPILE_ERROR;

    private readonly RuntimeInterface $runtime;

    /** What the front's closure makes, if one is for all requests. */
    private readonly ?HttpKernelInterface $kernel;

    private readonly int $reported;

    private readonly bool $isDebug;

    public function __construct(private readonly Front $front)
    {
        // Symfony 6.4 and later ask this, and not PHP_SAPI, whether there is a client to show a page to.
        $_SERVER['APP_RUNTIME_MODE'] ??= 'web=1&worker=1';
        $this->runtime = $front->runtime();
        $this->isDebug = \filter_var($_SERVER['APP_DEBUG'] ?? false, \FILTER_VALIDATE_BOOL);
        // A client may see them only while debugging.
        \ini_set('display_errors', $this->isDebug);
        $this->reported = \error_reporting();
        // It is cloned because the runtime of Symfony 7.4 keeps the first request that it is asked for.
        $application = $front->application(clone $this->runtime);
        if ($application instanceof Application || $application instanceof Command) {
            throw new \RuntimeException("$front->file makes a command of the console, and no application that handles requests");
        }
        $this->kernel = $application instanceof HttpKernelInterface ? $application : null;
        if ($this->kernel instanceof KernelInterface) {
            $this->kernel->boot(); // what is wrong with the container is known before a request needs it
        }
    }

    /** Handles the request whose superglobals these are. Kernels reset their services before a request. Connections are closed after it. */
    public function handle(): void
    {
        \error_reporting($this->reported);
        \register_shutdown_function($this->shutdown(...));
        $runtime = clone $this->runtime;
        try {
            $runtime->getRunner($this->kernel ?? $this->front->application($runtime))->run();
        } catch (\Throwable $thrown) {
            $this->guard();
            throw $thrown;
        } finally {
            Connections::close($this->kernel);
        }
    }

    /** Shows Symfony's page after a fatal error, which the handler that was registered in the boot does only at the end of that. */
    private function shutdown(): void
    {
        $error = \error_get_last();
        if ($error !== null && $error['type'] & self::FATAL && \class_exists(ErrorHandler::class, false)) {
            $this->guard();
            ErrorHandler::handleFatalError($error);
        }
    }

    /**
     * Keeps Symfony from printing what is uncaught as for a terminal, with all details. It does so, as PHP_SAPI says that this is a command,
     * when there is no kernel that could show it, or when that fails.
     */
    private function guard(): void
    {
        $handler = \set_exception_handler(null);
        \restore_exception_handler();
        $handler = \is_array($handler) ? $handler[0] : null;
        if (!$handler instanceof ErrorHandler) {
            return;
        }
        $first = $handler->setExceptionHandler(null);
        $handler->setExceptionHandler(function (\Throwable $thrown) use ($first): void {
            try {
                if ($first !== null) {
                    $first($thrown);
                    return;
                }
            } catch (\Throwable $failed) {
                $thrown === $failed || \error_log("$failed");
            }
            $page = (new HtmlErrorRenderer($this->isDebug))->render($thrown);
            if (!\headers_sent()) {
                \http_response_code($page->getStatusCode());
                foreach ($page->getHeaders() as $name => $value) {
                    \header("$name: $value", false);
                }
            }
            echo $page->getAsString();
        });
    }
}
