<?php return ['hello' => 'Guten Tag'];
