<?php

return ['default' => 'array', 'mailers' => ['array' => ['transport' => 'array']], 'from' => ['address' => 'a@applications.test', 'name' => 'A']];
