<html spawn="f();">
<?php
// Inline HTML, heredocs, strings and comments: only code is code.
function price(string $item, int $times = 1): int { suspend; return strlen($item) * $times; }
$prices = ['tea' => spawn price('tea'), 'milk' => spawn price('milk', times: 2)]; /* await $nothing; */
$label = 'price';
?>
await $this; suspend;
<?php foreach ($prices as $item => $job): ?>
  <p><?= $item ?>: <?= await $job ?></p>
<?php endforeach; suspend ?>
<?php if (await $prices['tea'] > 2): spawn function { echo "  <i>one</i>\n"; } ?>
  <b>spawn</b>
<?php await children; endif ?>
<?= <<<"TEXT"
      spawn f(); {${await spawn price('label') === 5 ? 'label' : 'none'}}
        await {$prices['tea']->getResult()} { $label}
      suspend;
      TEXT . "\n" ?>
<?= <<<'TEXT'
await $x until $y; {$label}
TEXT . 'spawn f(); ' . "await \$x", "\n" // await $x ?>
<?php
$cell = fn(int $n) => "<$n>";
echo "await $label: {$cell(await $prices['milk'])} and {$label}\n"; # spawn f();
echo implode(' ', array_map(fn($job) => await $job, $prices)), PHP_EOL ?>
</html>
