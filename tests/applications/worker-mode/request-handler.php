<?php

/** The interface of psr/http-server-handler, which the distribution has not. */

namespace Psr\Http\Server;

use Psr\Http\Message\{ResponseInterface, ServerRequestInterface};

interface RequestHandlerInterface
{
    public function handle(ServerRequestInterface $request): ResponseInterface;
}
