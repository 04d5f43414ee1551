<?php

/** Lets another request run, as a query of a database does. */
function pause(): void
{
    usleep((int) (getenv('WORKER_MODE_PAUSE') ?: random_int(0, 2000)));
}
