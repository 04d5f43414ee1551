<?php
namespace Compositions\Feature\Shared;

/* Included by many jobs at once, and not before: it waits before it declares. */
\Compositions\pause();
if (true) {
    function once(): string { return 'once'; }
}
