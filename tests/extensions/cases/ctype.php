<?php
namespace Matrix;

// They take anything and call nothing, but they complain.
foreach (['alnum', 'alpha', 'cntrl', 'digit', 'graph', 'lower', 'print', 'punct', 'space', 'upper', 'xdigit'] as $class) {
    check("ctype_$class", static fn($_, int $n) => noisily(fn() => ("ctype_$class")(48 + $n)), in: "ctype_$class");
}
