<?php

/** Lets another request run, as a query of a database does. */
function pause(): void
{
    usleep(random_int(0, 2000));
}
