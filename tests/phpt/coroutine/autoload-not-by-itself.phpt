--TEST--
spl_autoload_call() is refused as an autoloader, as it is without coroutines
--FILE--
<?php
require __DIR__ . '/kit.inc';

$refused = function() {
    try {
        return spl_autoload_register('spl_autoload_call');
    } catch (ValueError $e) {
        return $e->getMessage();
    }
};
$before = $refused();
T\check('the same', Async\await(Async\spawn($refused)) === $before, $before);
T\check('refused', spl_autoload_functions() === []);
?>
--EXPECT--
the same: yes
refused: yes
