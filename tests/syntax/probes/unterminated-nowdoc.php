<?php f(); <<<'A'
never $ends {$x}
  B
