<?php f(); <<<A
never $ends {$x
  A