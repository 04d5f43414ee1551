<?php

// Prepended to each script of an application: what it draws is the same in each run. (The addresses of pictures are drawn.)
mt_srand(7);
