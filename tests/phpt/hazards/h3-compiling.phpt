--TEST--
H3 files and code compiled while others run: slow sources, user wrappers that suspend, opcache, and the error handler stays
--FILE--
<?php
require __DIR__ . '/kit.inc';

$code = <<<'PHP'
    use function Async\{delay, spawn, suspend};

    final class SlowWrapper
    {
        public $context;
        private int $at = 0;
        private string $code;
        public function stream_open($path, $mode, $options, &$opened): bool { usleep(500); $n = (int) filter_var($path, FILTER_SANITIZE_NUMBER_INT); $n = abs($n); $this->code = "<?php\nfunction wrapped$n() { return 'wrapped $n'; }\n" . str_repeat("// filler $n\n", 900) . "return $n;"; return true; }
        public function stream_read($count): string { suspend(); usleep(200); $part = substr($this->code, $this->at, 1000); $this->at += strlen($part); return $part; }
        public function stream_eof(): bool { return $this->at >= strlen($this->code); }
        public function stream_stat(): array { return []; }
        public function stream_set_option($o, $a, $b): bool { return false; }
        public function stream_close(): void { suspend(); }
    }
    stream_wrapper_register('slow', SlowWrapper::class);
    $dir = sys_get_temp_dir() . '/spindle-phpt-' . getmypid();
    mkdir($dir);
    for ($i = 0; $i < 10; $i++) file_put_contents("$dir/f$i.php", "<?php\n\$x = @\$undefined$i;\nfunction file$i() { return 'file $i'; }\nusleep(1000);\nreturn $i;");
    $handled = [];
    set_error_handler(function($level, $text) use (&$handled) { $handled[] = $text; return true; });
    $jobs = [];
    for ($i = 0; $i < 10; $i++) {
        $jobs[] = spawn(function() use ($i, $dir) {
            $out = [include "$dir/f$i.php", ("file$i")(), include "slow://$i", ("wrapped$i")(), (eval("Async\\suspend(); return fn() => $i;"))()];
            trigger_error("after $i");
            return $out === [$i, "file $i", $i, "wrapped $i", $i];
        });
    }
    $ok = array_map('Async\await', $jobs);
    trigger_error('in the script');
    array_map('unlink', glob("$dir/*"));
    rmdir($dir);
    echo count(array_filter($ok)), ' of ', count($ok), ', ', count(preg_grep('/^after /', $handled)), ' handled, last: ', end($handled), "\n";
    PHP;
foreach (['without opcache' => '-d opcache.enable_cli=0', 'with opcache' => '-d opcache.enable_cli=1 -d opcache.validate_timestamps=1'] as $name => $options) {
    echo "$name: ", T\php($code, $options);
}
?>
--EXPECT--
without opcache: [0] 10 of 10, 10 handled, last: in the script
with opcache: [0] 10 of 10, 10 handled, last: in the script
