<?php

namespace App;

final class CountsRecords
{
    public function __invoke(\Illuminate\Log\Logger $logger): void
    {
        $logger->getLogger()->pushProcessor(new CountingProcessor());
    }
}
