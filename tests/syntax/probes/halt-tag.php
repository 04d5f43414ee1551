<?php __HALT_COMPILER() ?>
x <?php 1;